package relationgraph

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/manifest"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/model/ultra"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/relationgraph"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, making(new(asked)))) }

// asked is what a command that needs a relation graph asks for, and what it got.
type asked struct {
	split  string
	memory int64
	table  *Table
}

// making is a command that needs a relation graph, and says which it got.
func making(a *asked) command.Pipeline {
	return command.Pipeline{Name: "score", Run: func(ctx context.Context, e *command.Environment) error {
		loaded, inputs, err := e.Workspace.OpenGraph(ctx)
		if err != nil {
			return err
		}
		if a.table, err = Open(ctx, e, loaded, inputs, a.split, a.memory); err != nil {
			return err
		}
		if err := a.table.Make(ctx); err != nil {
			return err
		}
		g, err := relationgraph.Load(ctx, a.table.URL(), loaded)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(ultra.RelationGraphOf(loaded.Of(a.split).Graph), g, cmp.AllowUnexported(ultra.RelationGraph{})); diff != "" {
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
