package analyze

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/analysis"
	"tagnet/formats/counts"
	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/parquet"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/workspace"
)

// TestAnalysisEqualsBruteForce compares every number with counting from the text files alone,
// and the rows with the numbers.
func TestAnalysisEqualsBruteForce(t *testing.T) {
	for _, inductive := range []bool{false, true} {
		t.Run(fmt.Sprint("inductive ", inductive), func(t *testing.T) {
			workspace := t.TempDir()
			trained := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40))
			inference := trained
			arguments := []string{"--workspace", workspace, "--dataset", trained, "--layers", "4,2", "--deltas", "0,2,1"}
			if inductive {
				inference = pipelinetest.Dataset(t, pipelinetest.Chain(3, "o", 40))
				arguments = append(arguments, "--inference", inference)
			}
			pipelinetest.Succeed(t, Pipeline(), arguments...)
			a, err := analysis.Read(t.Context(), filepath.Join(workspace, "analysis"))
			if err != nil {
				t.Fatal(err)
			}
			compareGraph(t, readPlain(t, trained), a.Graph)
			if (a.InferenceGraph != nil) != inductive {
				t.Fatalf("inference graph %+v", a.InferenceGraph)
			}
			if inductive {
				compareGraph(t, readPlain(t, inference), *a.InferenceGraph)
			}
			for _, split := range []string{"train", "valid", "test"} {
				folder := trained
				if split == "test" {
					folder = inference
				}
				if (a.Splits[split].Graph == "inference") != (inductive && split == "test") {
					t.Errorf("%s asks the %s graph", split, a.Splits[split].Graph)
				}
				compareSplit(t, readPlain(t, folder), split, a.Splits[split])
				compareSources(t, workspace, split, a.Splits[split])
			}
			compareRows(t, workspace, a)
			m, err := manifest.Read(t.Context(), filepath.Join(workspace, "graph"))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{analysis.Training: 1}
			if inductive {
				want[analysis.Inference] = 1
			}
			got := map[string]int{}
			for _, shard := range Shards("graph", m) {
				got[shard.Graph]++
			}
			if !maps.Equal(got, want) {
				t.Errorf("shards of edges %v, want %v", got, want)
			}
		})
	}
}

// compareSources compares with the files that the analysis was made from.
func compareSources(t *testing.T, workspace, split string, got analysis.Split) {
	t.Helper()
	d, err := counts.ReadDistribution(t.Context(), filepath.Join(workspace, "distances", split))
	if err != nil {
		t.Fatal(err)
	}
	if got.Queries != d.Queries || len(got.ByDistance) != len(d.ByDistance) {
		t.Errorf("%s: %+v, want %+v", split, got.ByDistance, d)
	}
	for at, n := range d.ByDistance {
		if got.ByDistance[at].Queries != n {
			t.Errorf("%s: %d queries at %s, want %d", split, got.ByDistance[at].Queries, at, n)
		}
	}
	s, err := counts.ReadSummary(t.Context(), filepath.Join(workspace, "runs/main/messages", split))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Configurations) != len(got.Messages) {
		t.Fatalf("%s: %d configurations, want %d", split, len(got.Messages), len(s.Configurations))
	}
	for i, c := range s.Configurations {
		if got.Messages[i].Configuration != c {
			t.Errorf("%s: %+v, want %+v", split, got.Messages[i].Configuration, c)
		}
	}
}

// compareRows holds that the shares of each whole add up to 1, and that the rows of messages
// are those of the JSON.
func compareRows(t *testing.T, workspace string, a analysis.Analysis) {
	t.Helper()
	rows, err := parquet.Read[parquet.Share](t.Context(), filepath.Join(workspace, "analysis", analysis.SharesFile))
	if err != nil {
		t.Fatal(err)
	}
	type whole struct {
		graph, split, what   string
		layers, layer, delta int32
	}
	shares, counts := map[whole]float64{}, map[whole]int64{}
	for _, r := range rows {
		of := whole{r.Graph, r.Split, r.What, r.Layers, r.Layer, r.Delta}
		shares[of] += r.Share
		counts[of] += r.Count
	}
	for of, sum := range shares {
		if !(sum > 1-1e-12 && sum < 1+1e-12) {
			t.Errorf("%+v: the shares add up to %v", of, sum)
		}
	}
	wholes := 1
	if a.InferenceGraph != nil {
		wholes = 2
	}
	for name, split := range a.Splits {
		wholes++
		for _, m := range split.Messages {
			wholes += 1 + m.Layers
			if n := counts[whole{split.Graph, name, "message", int32(m.Layers), 0, int32(m.Delta)}]; n != m.NBFNet {
				t.Errorf("%s: rows with %d messages, want %d", name, n, m.NBFNet)
			}
			at := slices.IndexFunc(rows, func(r parquet.Share) bool {
				return r.Split == name && r.Layers == int32(m.Layers) && r.Delta == int32(m.Delta) && r.Layer == 2 && r.Part == "pruned_redundant"
			})
			if at < 0 || rows[at].Count != m.ByLayer[1].PrunedRedundant || rows[at].Share != m.ByLayer[1].Shares.PrunedRedundant {
				t.Errorf("%s: layer 2 is %+v, its row is at %d", name, m.ByLayer[1], at)
			}
		}
	}
	if len(shares) != wholes {
		t.Errorf("rows of %d wholes, want %d", len(shares), wholes)
	}
}

// TestAgain holds that a second run makes nothing, that --force makes the same bytes, and that
// other splits leave what took long as it is.
func TestAgain(t *testing.T) {
	folder, workspace := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40)), t.TempDir()
	arguments := []string{"--workspace", workspace, "--dataset", folder, "--layers", "2", "--deltas", "0,1", "--splits", "test,valid"}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	content := func() (times, texts map[string]string) {
		times, texts = map[string]string{}, map[string]string{}
		err := filepath.WalkDir(workspace, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			times[path], texts[path] = info.ModTime().String(), string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return times, texts
	}
	times, texts := content()
	for name := range texts {
		if strings.Contains(name, lock.FileName) {
			t.Errorf("left: %s", name)
		}
	}
	code, out, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
	if code != 0 || strings.Count(out, "is complete") != 6 || strings.Contains(out, "wrote ") || strings.Count(out, "already exists: ") != 5 || strings.Count(out, "next: ") != 2 {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	if now, _ := content(); fmt.Sprint(now) != fmt.Sprint(times) {
		t.Error("a second run wrote something")
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), "--workspace", workspace, "--layers", "2", "--deltas", "1", "--splits", "test"); code != 0 || strings.Count(out, "is complete") != 2 || !strings.Contains(out, "no --dataset: analyzing the graph in") {
		t.Errorf("one split: exit %d, %s", code, out)
	}
	a, err := analysis.Read(t.Context(), filepath.Join(workspace, "analysis"))
	if err != nil || len(a.Splits) != 1 || len(a.Splits["test"].Messages) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if now, _ := content(); now[filepath.Join(workspace, "runs/main/messages", "test", "manifest.json")] != times[filepath.Join(workspace, "runs/main/messages", "test", "manifest.json")] {
		t.Error("another analysis counted messages again")
	}
	pipelinetest.Succeed(t, Pipeline(), append(arguments, "--force")...)
	if _, now := content(); fmt.Sprint(now) != fmt.Sprint(texts) {
		t.Error("--force made other bytes")
	}
}

// TestInterrupted holds that what an interrupted or damaged run left is made again.
func TestInterrupted(t *testing.T) {
	folder, workspace := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40)), t.TempDir()
	arguments := []string{"--workspace", workspace, "--dataset", folder, "--layers", "2", "--deltas", "0", "--splits", "valid"}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	path := filepath.Join(workspace, "analysis", analysis.File)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, path, string(want[:len(want)/2]))
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d (%v)", len(got), len(want), err)
	}
}

// TestCountsOfAnEarlierVersion holds that messages which were counted before there were counts by
// layer are refused, with the command that counts them again.
func TestCountsOfAnEarlierVersion(t *testing.T) {
	root := t.TempDir()
	arguments := []string{"--workspace", root, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40)), "--layers", "2", "--deltas", "0", "--splits", "test"}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	w := workspace.New(root)
	m, err := manifest.Read(t.Context(), w.Messages("test"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := counts.ReadSummary(t.Context(), w.Messages("test"))
	if err != nil {
		t.Fatal(err)
	}
	s.ByLayer = nil
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, filepath.Join(root, "runs/main/messages", "test", counts.SummaryFile), string(text))
	pipelinetest.Remove(t, filepath.Join(root, "runs/main/messages", "test", manifest.FileName))
	stage := workspace.Stage{Workspace: w, Name: m.Stage, Folder: w.MessagesFolder("test"), Configuration: m.Configuration, Inputs: m.Inputs, Vocabulary: m.Vocabulary}
	if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), m.Rows)); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
	if want := "--split test --layers 2 --deltas 0 --force overwrites it"; code != command.ExitFailure || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d: %q, want a line that says %q", code, stderr, want)
	}
}

// TestSample holds that without a graph and without --dataset the sample is analyzed.
func TestSample(t *testing.T) {
	workspace := t.TempDir()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--splits", "valid", "--deltas", "0,2", "--seed", "3")
	for _, want := range []string{"using the built-in sample", "training graph", "analysis.parquet", "index.html"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said: %s", want, out)
		}
	}
	a, err := analysis.Read(t.Context(), filepath.Join(workspace, "analysis"))
	if err != nil {
		t.Fatal(err)
	}
	compareSplit(t, readPlain(t, filepath.Join(workspace, "sample")), "valid", analysis.Split{
		Queries: a.Splits["valid"].Queries, ByDistance: a.Splits["valid"].ByDistance, Remove: "none",
	})
	page, err := os.ReadFile(filepath.Join(workspace, "report", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"In-degrees", "Distances of the answers", "Pruned messages", "Messages by layer"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestMistakes(t *testing.T) {
	folder, workspace := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40)), t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--dataset", folder, "--layers", "2", "--deltas", "0", "--splits", "test")
	other := pipelinetest.Dataset(t, pipelinetest.Chain(3, "o", 40))
	without := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40))
	pipelinetest.Write(t, filepath.Join(without, "valid.txt"), "nothing\n")
	for name, test := range map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"split":             {[]string{"--splits", "test,all"}, command.ExitUsage, "--splits"},
		"split twice":       {[]string{"--splits", "test,test"}, command.ExitUsage, "repeated"},
		"no split":          {[]string{"--splits", ""}, command.ExitUsage, "--splits"},
		"layers":            {[]string{"--layers", "15"}, command.ExitUsage, "--layers"},
		"deltas":            {[]string{"--deltas", "0,-1"}, command.ExitUsage, "--deltas"},
		"inference alone":   {[]string{"--inference", other}, command.ExitUsage, "--inference"},
		"missing data":      {[]string{"--dataset", filepath.Join(folder, "absent")}, command.ExitUsage, "train.txt, valid.txt and test.txt"},
		"another dataset":   {[]string{"--workspace", workspace, "--dataset", other}, command.ExitFailure, "--force to overwrite it"},
		"other messages":    {[]string{"--workspace", workspace, "--splits", "test", "--layers", "2", "--deltas", "1"}, command.ExitFailure, "deltas is [0] there, [1] here"},
		"a bad line":        {[]string{"--dataset", without}, command.ExitFailure, "valid.txt:1:"},
		"a split of no use": {[]string{"--dataset", without, "--on_bad_line", "reject", "--splits", "valid"}, command.ExitFailure, "valid has no queries"},
	} {
		t.Run(name, func(t *testing.T) {
			arguments := append([]string{"--workspace", t.TempDir()}, test.arguments...)
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: test.code, Says: []string{test.says}}, arguments...)
		})
	}
	code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", without, "--on_bad_line", "reject", "--layers", "2", "--deltas", "0")
	if code != 0 || !strings.Contains(out, "left out: the valid split") {
		t.Errorf("a split without queries: exit %d, %s%s", code, out, stderr)
	}
	pipelinetest.Write(t, filepath.Join(without, "valid.txt"), "x\tnever trained\ty\n")
	code, out, stderr = pipelinetest.Run(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", without, "--on_bad_line", "reject", "--layers", "2", "--deltas", "0")
	if code != 0 || !strings.Contains(out, "1 rejected line") || !strings.Contains(out, "left out: the valid split") {
		t.Errorf("a relation that no training fact has: exit %d, %s%s", code, out, stderr)
	}
}

// TestTakenOver holds that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	workspace := t.TempDir()
	arguments := []string{"--layers", "2", "--deltas", "1", "--splits", "test"}
	pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40))}, arguments...)...)
	pipelinetest.Remove(t, workspace, "analysis")
	pipelinetest.TakenOver(t, Pipeline(), workspace, "analysis", arguments...)
}

// TestPlan checks that --plan prints the steps of the commands that would run, and writes nothing.
func TestPlan(t *testing.T) {
	w := t.TempDir()
	arguments := []string{"--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 20)), "--plan"}
	out := pipelinetest.Succeed(t, Pipeline(), arguments...)
	if !strings.Contains(out, "step       vocabulary.names: ") || !strings.Contains(out, "nothing was submitted") {
		t.Errorf("without a graph: %s", out)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, w), nil)
	pipelinetest.Succeed(t, Pipeline(), append(arguments[:4:4], "--plan=false")...)
	before := pipelinetest.Files(t, w)
	out = pipelinetest.Succeed(t, Pipeline(), append(arguments, "--force")...)
	for _, text := range []string{"distances/test:\n", "step       distances.search: ", "step       messages.count: ", "writes at most ", "writes about "} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in %s", text, out)
		}
	}
	pipelinetest.Same(t, pipelinetest.Files(t, w), before)
}
