package derived

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/budget"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/pretrained"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	encode "tagnet/stages/preprocess"
	stage "tagnet/stages/relations"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, making(new(asked)))) }

// asked is what a command that needs a relation graph asks for, and what it got.
type asked struct {
	split  string
	memory int64
	table  *RelationGraph
}

// making is a command that needs a relation graph, and says which it got.
func making(a *asked) command.Pipeline {
	return command.Pipeline{Name: "score", Run: func(ctx context.Context, e *command.Environment) error {
		loaded, inputs, err := e.Workspace.OpenGraph(ctx)
		if err != nil {
			return err
		}
		if a.table, err = OpenRelationGraph(ctx, e, pretrained.ULTRAConfiguration(), loaded, inputs, a.split, a.memory); err != nil {
			return err
		}
		expected, err := a.table.Edges(ctx) // by which the memory is divided
		if err != nil {
			return err
		}
		if err := a.table.Make(ctx); err != nil {
			return err
		}
		if made, err := a.table.Edges(ctx); err != nil || made != expected {
			e.Say("%d edges (%v), %d expected", made, err, expected)
		}
		g, err := stage.Load(ctx, a.table.URL(), loaded)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(relations.GraphOf(loaded.Of(a.split).Graph), g, cmp.AllowUnexported(relations.Graph{})); diff != "" {
			e.Say("the table's graph differs (-want +got):\n%s", diff)
		}
		e.Say("%s", a.table.URL())
		return nil
	}}
}

// made is a workspace with the graph of two rings, the second one for inference.
func made(t *testing.T) string {
	return pipelinetest.Template(t, "rings", func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace,
			"--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("a", 20)), "--inference", pipelinetest.Dataset(t, pipelinetest.Ring("b", 15)))
	})
}

func TestMakesEachGraphOnce(t *testing.T) {
	w := made(t)
	before := map[string]string{}
	for _, c := range []struct{ split, folder string }{{"train", "train"}, {"valid", "train"}, {"test", "inference"}} {
		a := &asked{split: c.split, memory: budget.Default}
		url := filepath.Join(w, "relationgraph", c.folder)
		if got := pipelinetest.Succeed(t, making(a), "--workspace", w, "--force"); got != url+"\n" {
			t.Errorf("%s: printed %q, want %q", c.split, got, url)
		}
		files := pipelinetest.Files(t, url)
		if c.split == "valid" {
			pipelinetest.Same(t, files, before)
		}
		before = files
		m, err := manifest.Read(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		g, err := manifest.Read(t.Context(), filepath.Join(w, kg.Folder))
		if err != nil {
			t.Fatal(err)
		}
		if m.Rows["relations"] != 6 || m.Rows["edges"] != 4*36 || m.Inputs[kg.Folder] != g.Checksum || len(m.Files) != 1 {
			t.Errorf("%s: manifest %+v", c.split, m)
		}
	}
}

// stamp returns what changes when a file is written again.
func stamp(t *testing.T, elements ...string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestMakesOnlyWhatIsNotCurrent makes the table again where it is damaged, cut short, not complete or of another graph, and only then.
func TestMakesOnlyWhatIsNotCurrent(t *testing.T) {
	w := made(t)
	p := making(&asked{split: "train", memory: budget.Default})
	path := []string{w, "relationgraph", "train", stage.TableFile}
	pipelinetest.Succeed(t, p, "--workspace", w)
	before := stamp(t, path...)
	for _, again := range [][]string{nil, {"--force"}, {"--plan"}} {
		pipelinetest.Succeed(t, p, append(again, "--workspace", w)...)
		if !os.SameFile(before, stamp(t, path...)) {
			t.Errorf("%v wrote a current table again", again)
		}
	}
	want := pipelinetest.Read(t, filepath.Join(path...))
	for what, damage := range map[string]func(){
		"damaged":      func() { pipelinetest.Flip(t, path...) },
		"cut short":    func() { pipelinetest.Cut(t, path...) },
		"missing":      func() { pipelinetest.Remove(t, path...) },
		"not complete": func() { pipelinetest.Remove(t, w, "relationgraph", "train", manifest.FileName); unfinished(t, w) },
	} {
		damage()
		pipelinetest.Succeed(t, p, "--workspace", w)
		if pipelinetest.Read(t, filepath.Join(path...)) != want {
			t.Errorf("%s: other bytes than before", what)
		}
	}
	old, err := encode.Load(t.Context(), filepath.Join(w, kg.Folder))
	if err != nil {
		t.Fatal(err)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(3, "c", 30)), "--force")
	loaded, err := encode.Load(t.Context(), filepath.Join(w, kg.Folder))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Load(t.Context(), filepath.Join(w, "relationgraph", "train"), loaded); err == nil || !strings.Contains(err.Error(), "another version of the graph") {
		t.Errorf("the relation graph of the previous graph: error %v", err)
	}
	if out := pipelinetest.Succeed(t, p, "--workspace", w); strings.Contains(out, "differs") {
		t.Error(out)
	}
	if _, err := stage.Load(t.Context(), filepath.Join(w, "relationgraph", "train"), old); err == nil {
		t.Error("the relation graph of the new graph is read for the previous one")
	}
}

// TestMadeMeanwhile opens a table that another run makes before this one does. With --force it is not made again.
func TestMadeMeanwhile(t *testing.T) {
	w := made(t)
	path := []string{w, "relationgraph", "train", stage.TableFile}
	pipelinetest.Succeed(t, command.Pipeline{Name: "score", Run: func(ctx context.Context, e *command.Environment) error {
		loaded, inputs, err := e.Workspace.OpenGraph(ctx)
		if err != nil {
			return err
		}
		var before os.FileInfo
		var tables [2]*RelationGraph
		for i := range tables {
			if tables[i], err = OpenRelationGraph(ctx, e, pretrained.ULTRAConfiguration(), loaded, inputs, "train", budget.Default); err != nil {
				return err
			}
		}
		for i, table := range tables {
			if err := table.Make(ctx); err != nil {
				return err
			}
			if now := stamp(t, path...); i == 0 {
				before = now
			} else if !os.SameFile(before, now) {
				t.Error("the table was made twice")
			}
		}
		return nil
	}}, "--workspace", w, "--force")
}

// unfinished leaves the lock of a run that ended before its folder was complete.
func unfinished(t *testing.T, w string) {
	t.Helper()
	l, err := lock.Acquire(t.Context(), filepath.Join(w, "relationgraph", "train"), "a run", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.End(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAnotherRunWrites is refused while another run makes the table, and with --force takes it over.
func TestAnotherRunWrites(t *testing.T) {
	w := made(t)
	p := making(&asked{split: "train", memory: budget.Default})
	if _, err := lock.Acquire(t.Context(), filepath.Join(w, "relationgraph", "train"), "a run", false); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Fail(t, p, pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"a run", "--force"}}, "--workspace", w)
	pipelinetest.Succeed(t, p, "--workspace", w, "--force")
}

// TestLinkedFolder checks that a table behind a symbolic link is read, and that none is made there: the stage that needs it is not
// ready.
func TestLinkedFolder(t *testing.T) {
	w, elsewhere := made(t), filepath.Join(t.TempDir(), "elsewhere")
	a := &asked{split: "train", memory: budget.Default}
	pipelinetest.Succeed(t, making(a), "--workspace", w)
	if err := os.Rename(filepath.Join(w, "relationgraph"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(w, "relationgraph")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	pipelinetest.Succeed(t, making(a), "--workspace", w)
	a.table.current = false
	err := a.table.Ready(func(context.Context) error { t.Error("it is ready"); return nil })(t.Context())
	if err == nil || !strings.Contains(err.Error(), filepath.Join(w, "relationgraph")+": it is a symbolic link") {
		t.Errorf("error %v", err)
	}
}

// TestMemory holds that less memory changes no byte.
func TestMemory(t *testing.T) {
	w := made(t)
	var tables []string
	for _, memory := range []int64{1, budget.Default} {
		pipelinetest.Succeed(t, making(&asked{split: "train", memory: memory}), "--workspace", w)
		tables = append(tables, pipelinetest.Read(t, w, "relationgraph", "train", stage.TableFile))
		pipelinetest.Remove(t, w, "relationgraph")
	}
	if tables[0] != tables[1] {
		t.Error("--memory 1 gives other bytes")
	}
}

// TestDryRun checks that --dry_run and --plan print the job and write nothing.
func TestDryRun(t *testing.T) {
	w := made(t)
	p := making(&asked{split: "test", memory: budget.Default})
	pipelinetest.DryRun(t, p, w, "/relations.pairsFn")
	pipelinetest.Plan(t, p, w, "step       relations.pairs: ")
}

// TestTakenOver checks that a run that lost the folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	pipelinetest.TakenOver(t, making(&asked{split: "test", memory: budget.Default}), made(t), "relationgraph/inference")
}
