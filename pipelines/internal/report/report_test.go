package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// run completes the folders of a workspace, makes its page, and returns it with the output.
func run(t *testing.T, root string) (html, output string) {
	t.Helper()
	complete(t, workspace.New(root))
	return made(t, root)
}

// made makes the page of a workspace as it is, and returns it with the output.
func made(t *testing.T, root string, more ...string) (html, output string) {
	t.Helper()
	output = pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", root}, more...)...)
	return pipelinetest.Read(t, root, "report", "index.html"), output
}

// TestWholePage makes the page of a workspace of FB15k-237's size. REPORT_FOLDER names a folder that keeps it.
func TestWholePage(t *testing.T) {
	root := t.TempDir()
	if kept := os.Getenv("REPORT_FOLDER"); kept != "" {
		root = kept
	}
	f := fixture{t, workspace.New(root), 237, 40932}
	f.all()
	page, output := run(t, root)
	if len(page) > 800<<10 {
		t.Errorf("the page has %d bytes: too many for 40,932 queries and 237 relations", len(page))
	}
	for _, want := range []string{
		"Trained model: fb15k-237", "14,541 entities", "272,115 facts", "40,932 queries", "All 237 relations",
		"66.7% fewer than one message along each", "43.0% fewer than those of them that are not empty", ">66.7%</dd>", ">43.0%</dd>",
		"The paper counts 50.1% fewer", "epoch-012", "learning_<wbr>rate", "Messages by layer", "408,173", "Pruned messages", "75.0%", "2 h 2 min",
		"/<wbr>people/<wbr>person/<wbr>relation_<wbr>1",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	checkMarkup(t, page)
	if !strings.Contains(page, "&lt;script&gt;alert(") {
		t.Error("the hostile relation is not on the page as text")
	}
	if strings.Contains(output, "not shown") || !strings.Contains(output, "wrote ") {
		t.Errorf("output %q", output)
	}
	figures, err := filepath.Glob(filepath.Join(root, "report", "*.svg"))
	if err != nil || len(figures) != 9 {
		t.Errorf("%d figures beside the page, want 9: %v", len(figures), figures)
	}
	for _, figure := range figures {
		text, err := os.ReadFile(figure)
		if err != nil {
			t.Fatal(err)
		}
		checkXML(t, figure, string(text))
	}
	distances, err := os.ReadFile(filepath.Join(root, "report", "distances.svg"))
	if err != nil || !strings.Contains(string(distances), ">valid<") || strings.Contains(string(distances), ">train<") {
		t.Errorf("the figure of distances shows other splits than test and valid (%v)", err)
	}
	again, _ := run(t, root)
	if again != page {
		t.Error("the same workspace gave a different page")
	}
}

// checkMarkup fails if a name became markup, or if the page loads anything.
func checkMarkup(t *testing.T, page string) {
	t.Helper()
	if strings.Contains(page, "<script") {
		t.Error("the page has a script: a name became one")
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("html/template refused a value")
	}
	for _, loading := range []string{"src=", "@import", "url(", "<link", "<iframe"} {
		if strings.Contains(page, loading) {
			t.Errorf("the page contains %q: it may load something", loading)
		}
	}
	for rest := page; ; {
		from := strings.Index(rest, "<svg")
		if from < 0 {
			return
		}
		to := strings.Index(rest, "</svg>") + len("</svg>")
		checkXML(t, "a figure of the page", rest[from:to])
		rest = rest[to:]
	}
}

func checkXML(t *testing.T, name, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s is not XML: %v", name, err)
			return
		}
		if start, ok := token.(xml.StartElement); ok {
			for _, attribute := range start.Attr {
				if strings.Contains(attribute.Value, "NaN") || strings.Contains(attribute.Value, "Inf") {
					t.Errorf("%s: <%s %s=%q>", name, start.Name.Local, attribute.Name.Local, attribute.Value)
				}
			}
		}
	}
}

// TestGaps checks that the pages of workspaces with missing or damaged files name them, with the
// command that makes them.
func TestGaps(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(f fixture)
		want  []string
		not   []string
	}{
		{"test facts in the graph", func(f fixture) {
			f.write("graph/summary.json", counts.Dataset{Dataset: "leaky", Entities: 9, Relations: 1, Facts: 10, Edges: 20,
				Queries: map[string]int64{"train": 20, "valid": 8, "test": 400}, Known: map[string]int64{"valid": 1, "test": 30}})
		}, []string{"30 of the 200 facts of the test split (15.0%) are also in the training graph",
			"1 of the 4 facts of the valid split (25.0%) is also in the training graph"}, nil},
		{"test facts in the inference graph", func(f fixture) {
			f.write("graph/summary.json", counts.Dataset{Dataset: "leaky", Entities: 9, Relations: 1, Facts: 10, Edges: 20,
				Queries: map[string]int64{"test": 400}, Known: map[string]int64{"valid": 0, "test": 30},
				InferenceGraph: &counts.Graph{Entities: 9, Facts: 10, Edges: 20}})
		}, []string{"(15.0%) are also in the inference graph"}, []string{"of the valid split ("}},
		{"two graphs", func(f fixture) {
			f.write("graph/summary.json", counts.Dataset{Dataset: "v1", Entities: 3103, Relations: 1, Facts: 10, Edges: 20,
				Queries: map[string]int64{"test": 400}, InferenceGraph: &counts.Graph{Entities: 225, Facts: 10, Edges: 20}})
			f.evaluation("test")
		}, []string{"<dd>3,103</dd><dd class=\"note\">training graph, 1 relation</dd>",
			"<dd>225</dd><dd class=\"note\">inference graph, which test asks about</dd>", ">test on the inference graph, filtered"}, nil},
		{"only training", func(f fixture) { f.training() }, []string{"./pipelines/preprocess", "./pipelines/score", "./pipelines/messages"},
			[]string{"./pipelines/distances"}},
		{"only the graph", func(f fixture) { f.graph() }, []string{"Dataset: fb15k-237", "14,541 entities", "./pipelines/train"},
			[]string{"./pipelines/preprocess"}},
		{"no ranks", func(f fixture) { f.graph(); f.training(); f.evaluation("test") },
			[]string{"Hits@10", "ranks of the test split cannot be shown", "./pipelines/messages"}, []string{"./pipelines/train"}},
		{"only valid", func(f fixture) { f.evaluation("valid") }, []string{"of the valid split"}, nil},
		{"several splits", func(f fixture) { f.messages(); f.splits() },
			[]string{"of each split", "dotted: of those that are not empty", "in numbers", "A training query"}, nil},
		{"damaged metrics", func(f fixture) { f.writeText("runs/main/evaluation/test/metrics.json", `{"queries": `) },
			[]string{"metrics.json", "unexpected end", "score"}, nil},
		{"damaged log", func(f fixture) {
			f.training()
			f.writeText("runs/main/training.jsonl", "{\"epoch\":1,\"loss\":1}\n{\"ep")
		}, []string{"training.jsonl:2"}, nil},
		{"no configurations", func(f fixture) { f.write("runs/main/messages/test/summary.json", counts.Summary{Split: "test"}) }, []string{"Messages"}, nil},
		{"one epoch, no validation", func(f fixture) { f.writeText("runs/main/training.jsonl", `{"epoch":1,"loss":0.5,"seconds":3}`+"\n") },
			[]string{"In 1 epoch the mean loss of a query was 0.500, in 3.0 s."}, []string{"NaN", "changed from"}},
		{"no queries", func(f fixture) { f.write("runs/main/evaluation/test/metrics.json", map[string]any{"split": "test"}) }, []string{"0 queries"},
			[]string{"NaN"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			test.write(fixture{t, workspace.New(root), 3, 8})
			page, output := run(t, root)
			for _, want := range test.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page does not contain %q", want)
				}
			}
			for _, not := range test.not {
				if strings.Contains(page, not) {
					t.Errorf("the page contains %q", not)
				}
			}
			if !strings.Contains(output, "not shown") {
				t.Errorf("the output does not name what is not shown: %q", output)
			}
		})
	}
}

// TestAGapHasAReason checks that what cannot be shown because its file is missing says so.
func TestAGapHasAReason(t *testing.T) {
	f := fixture{t, workspace.New(t.TempDir()), 3, 12}
	f.all()
	if err := os.Remove(f.workspace.Path("runs/main/evaluation/test/metrics.json")); err != nil {
		t.Fatal(err)
	}
	page, output := run(t, f.workspace.Root())
	if !strings.Contains(output, "not shown: The metrics of the test split cannot be shown (") ||
		!strings.Contains(page, "The metrics of the test split cannot be shown: ") {
		t.Errorf("it gives no reason: %s", output)
	}
}

// TestUnfinishedTraining checks that the page says so as long as the checkpoints have no manifest. The
// best checkpoint may be older than the present number of epochs.
func TestUnfinishedTraining(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 3, 8}
	f.training()
	extended := checkpoint.Record{FormatVersion: checkpoint.FormatVersion, Configuration: configuration.Default(), Epoch: 13, Step: 204088}
	extended.Configuration.Epochs = 77
	if err := checkpoint.Folder(f.workspace.Checkpoints()).Save(t.Context(), extended, nil, nil); err != nil {
		t.Fatal(err)
	}
	if page, _ := made(t, root); !strings.Contains(page, "The training is not finished: 77 epochs are configured.") {
		t.Error("the page does not say that the training is not finished")
	}
	if finished, _ := run(t, root); strings.Contains(finished, "not finished") {
		t.Error("the page says of a finished training that it is not finished")
	}
}

// TestInterruptedEvaluation checks that the lock file that a killed evaluation leaves is one warning, on the page too.
func TestInterruptedEvaluation(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 3, 8}
	f.graph()
	f.training()
	complete(t, f.workspace)
	f.evaluation("test")
	f.ranks("test")
	f.writeText(f.workspace.InRun("evaluation/test/"+lock.FileName), "{}")
	page, output := made(t, root)
	if n, m := strings.Count(page, "test is not complete"), strings.Count(output, "test is not complete"); n != 1 || m != 1 {
		t.Errorf("%d warnings on the page and %d in the output, want one each: %s", n, m, output)
	}
}

// TestWhatIsBeingMade checks that an output that another run is making is a gap. Without a graph that is being made
// there is no page.
func TestWhatIsBeingMade(t *testing.T) {
	for folder, code := range map[string]int{"runs/main/evaluation/valid": command.ExitOK, "distances/valid": command.ExitOK, "graph": command.ExitFailure} {
		root := t.TempDir()
		if folder != "graph" {
			fixture{t, workspace.New(root), 3, 8}.graph()
			complete(t, workspace.New(root))
		}
		if _, err := lock.Acquire(t.Context(), filepath.Join(root, folder), "the other command", false); err != nil {
			t.Fatal(err)
		}
		got, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", root)
		if says := out + stderr; got != code || !strings.Contains(says, folder+" is being written by process ") ||
			!strings.Contains(says, "take over with --force of that command") {
			t.Errorf("%s: exit code %d: %s", folder, got, says)
		}
		if code == command.ExitOK && !strings.Contains(out, "report --workspace "+root+"\n") {
			t.Errorf("%s: another remedy than the report: %s", folder, out)
		}
	}
}

// TestOnlyCompleteFoldersAreShown checks that the page leaves out the files of a killed run and those
// made from another graph, and that a damaged file is an error.
func TestOnlyCompleteFoldersAreShown(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	f := fixture{t, w, 3, 8}
	f.graph()
	f.messages()
	f.training()
	complete(t, w)
	f.evaluation("test") // without a manifest
	for _, want := range []string{"runs/main/evaluation/test is not complete", "runs/main/messages/test was made from another",
		"The model was trained on another graph than the present one. With the flags it had, the command"} {
		if _, output := made(t, root); !strings.Contains(output, want) {
			t.Errorf("output %q, want %q", output, want)
		}
		// Publish a different graph.
		stage := workspace.Output{Workspace: w, Name: "test", Folder: "graph", Seed: 2}
		if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
	}
	f.write("distances/test/distribution.json", map[string]any{"split": "test", "queries": 1})
	if err := os.Remove(filepath.Join(root, "report", "index.html")); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"distances --workspace"}}, "--workspace", root)
	if there, err := storage.Exists(t.Context(), root+"/report/index.html"); err != nil || there {
		t.Errorf("a page of damaged files (%v)", err)
	}
}

func TestTrainingAtChance(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 3, 12}
	f.all()
	for mrr, want := range map[string]bool{"0.21": true, "0.23": false} {
		f.writeText("runs/main/training.jsonl", `{"epoch":1,"loss":0.7,"valid":{"queries":12,"chance":{"mrr":0.2,"standard_error":0.01},"pessimistic":{"mrr":`+
			mrr+`}}}`+"\n")
		page, _ := run(t, root)
		if got := strings.Contains(page, "That is not clearly above 0.200, the MRR of random scores."); got != want {
			t.Errorf("an MRR of %s: said %t, want %t", mrr, got, want)
		}
	}
}

func TestChoicesOfAStar(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 3, 8}
	f.write("runs/main/messages/test/summary.json", counts.Summary{Split: "test", Queries: 10, Edges: 1000,
		Configurations: []counts.Configuration{{Layers: 2, Delta: 1, Totals: counts.Totals{NBFNet: 20000, Kept: 9000}, Decrease: 0.55,
			DecreaseWithoutEmpty: 0.55}},
		AStar: &counts.AStar{Checkpoint: "epoch-003", Policy: "window+astar", Layers: 2, Delta: 1, NBFNet: 20000, AStar: 4000, Kept: 3000, Decrease: 0.85,
			DecreaseOfAStar: 0.25,
			ByLayer:         []counts.AStarLayer{{Layer: 1, AStar: 1000, Kept: 1000}, {Layer: 2, AStar: 3000, Kept: 2000}}}})
	page, _ := run(t, root)
	for _, want := range []string{"Messages chosen by A*Net", "25.0%", "33.3%", "85.0%", "policy window&#43;astar"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

func TestCommandsNameTheWorkspace(t *testing.T) {
	root := t.TempDir()
	fixture{t, workspace.New(root), 3, 8}.training()
	page, _ := run(t, root)
	if want := "go run ./pipelines/preprocess --workspace " + root; !strings.Contains(page, want) {
		t.Errorf("the page does not contain %q", want)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := t.TempDir()
	var out bytes.Buffer
	if code := command.Run(ctx, Pipeline(), []string{"--workspace", root}, &out, &out); code != command.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if there, err := storage.Exists(context.Background(), root+"/report/index.html"); err != nil || there {
		t.Errorf("an interrupted run left a page (%v)", err)
	}
}

// TestNoWorkspace checks that the report of a workspace that does not exist is an error.
func TestNoWorkspace(t *testing.T) {
	root := filepath.Join(t.TempDir(), "absent")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"go run ./pipelines/preprocess"}}, "--workspace", root)
	if _, err := os.Stat(root); err == nil {
		t.Errorf("%s was made", root)
	}
}

// TestOpenWithoutABrowser checks that a page is no failure for the lack of a browser.
func TestOpenWithoutABrowser(t *testing.T) {
	t.Setenv("BROWSER", filepath.Join(t.TempDir(), "absent"))
	root := t.TempDir()
	fixture{t, workspace.New(root), 3, 8}.graph()
	_, output := made(t, root, "--open")
	want := "open " + filepath.Join(root, "report", "index.html") + " yourself"
	if !strings.Contains(output, "no browser could be started (") || !strings.Contains(output, want) {
		t.Errorf("output %q, want %q", output, want)
	}
}

// TestEvaluationOfAnotherCheckpoint checks that the page leaves out metrics of other weights than the
// best checkpoint's, and names the command that replaces them.
func TestEvaluationOfAnotherCheckpoint(t *testing.T) {
	for _, test := range []struct {
		weights string
		shown   bool
	}{{"of-the-best", true}, {"of-another", false}} {
		root := t.TempDir()
		w := workspace.New(root)
		f := fixture{t, w, 3, 8}
		f.graph()
		f.training()
		f.record(checkpoint.Record{Configuration: configuration.Default(), Epoch: 12, Weights: manifest.File{SHA256: "of-the-best"}})
		f.evaluation("test")
		complete(t, w)
		stage := workspace.Output{Workspace: w, Name: "score", Folder: "runs/main/evaluation/test", Inputs: ofGraph(t, w),
			Configuration: map[string]string{"checkpoint": "epoch-003", "weights": test.weights}}
		if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
		_, output := made(t, root)
		const want = "is of epoch-003, but the best checkpoint now is epoch-012): go run ./pipelines/score --workspace "
		if n := strings.Count(output, "--split test --force\n"); n > 1 {
			t.Errorf("the same command is printed %d times: %s", n, output)
		}
		if strings.Contains(output, want) == test.shown || strings.Count(output, "--split test --force\n") != 0 == test.shown {
			t.Errorf("weights %s: output %s", test.weights, output)
		}
	}
}
