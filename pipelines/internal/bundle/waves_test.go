package bundle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/encode"
)

// sharded returns a workspace whose graph, with hubs and parallel edges, has its edges in so many files.
func sharded(t *testing.T, shards, facts int) workspace.Workspace {
	t.Helper()
	command.InitBeam()
	ctx := context.Background()
	w := workspace.New(t.TempDir())
	stage := workspace.Output{Workspace: w, Name: "preprocess", Folder: workspace.GraphFolder, Command: w.Command("preprocess")}
	if _, err := stage.Begin(ctx, false); err != nil {
		t.Fatal(err)
	}
	params := encode.WriteParams{Folder: w.Graph(), EdgeShards: shards}
	texts, rng := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	for i, split := range kg.Splits {
		var text strings.Builder
		for range facts / (1 + 5*min(i, 1)) {
			tail := rng.IntN(facts / 3)
			if rng.IntN(4) == 0 {
				tail = rng.IntN(3)
			}
			fmt.Fprintf(&text, "e%05d\tr%d\te%05d\n", rng.IntN(facts/3), rng.IntN(4), tail)
		}
		url := filepath.Join(texts, split+".txt")
		pipelinetest.Write(t, url, text.String())
		params.Chunks = append(params.Chunks, triples.Chunk{URL: url, Graph: triples.Training, Split: split})
	}
	if err := pipelinetest.Environment().RunBeam(ctx, preprocess.Build(params)); err != nil {
		t.Fatal(err)
	}
	s, err := counts.ReadDataset(ctx, w.Graph())
	if err != nil {
		t.Fatal(err)
	}
	if stage.Vocabulary, err = kg.HashNames(ctx, w.Graph(), s.Entities, s.Relations); err != nil {
		t.Fatal(err)
	}
	if err := stage.Publish(ctx, map[string]int64{"entities": s.Entities, "edges": s.Edges}); err != nil {
		t.Fatal(err)
	}
	return w
}

// opened returns the work of a command in a workspace.
func opened(t *testing.T, w workspace.Workspace, split string, reach int) *work {
	t.Helper()
	e := pipelinetest.Environment()
	e.Workspace = w
	m, err := manifest.Read(t.Context(), w.Graph())
	if err != nil {
		t.Fatal(err)
	}
	f := &flags{split: split, memory: 1024}
	f.configuration.Reach, f.configuration.Layers, f.configuration.Remove = reach, 3, "triple"
	found, err := f.cutQueries(t.Context(), e, m)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestWavesChangeNothing holds that the number of pipelines changes no byte.
func TestWavesChangeNothing(t *testing.T) {
	w, want := sharded(t, 2, 1000), map[string]string(nil)
	for _, perWave := range []int{1 << 20, 3, 1} {
		found := opened(t, w, "train", 100)
		if len(found.files) < 4 {
			t.Fatalf("%d files of parts", len(found.files))
		}
		found.params.Folder, found.perWave, found.fits = t.TempDir(), perWave, nil
		if err := found.find(t.Context(), pipelinetest.Environment()); err != nil {
			t.Fatal(err)
		}
		got := pipelinetest.Files(t, found.params.Folder)
		if want == nil {
			want = got
		}
		pipelinetest.Same(t, got, want)
	}
}

// TestDamagedEdges holds that an error names the file and what is wrong with it.
func TestDamagedEdges(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(ctx context.Context, url, other string) error
		says   string
	}{
		"missing": {func(ctx context.Context, url, _ string) error { return storage.Remove(ctx, url) }, "no such file"},
		"cut short": {func(ctx context.Context, url, _ string) error {
			data, err := storage.ReadFile(ctx, url)
			return errors.Join(err, storage.WriteFile(ctx, url, data[:len(data)/2]))
		}, "cut short or damaged"},
		"another's": {func(ctx context.Context, url, other string) error {
			data, err := storage.ReadFile(ctx, other)
			return errors.Join(err, storage.WriteFile(ctx, url, data))
		}, "is out of the file's range"},
	} {
		t.Run(name, func(t *testing.T) {
			w := sharded(t, 3, 300)
			found := opened(t, w, "test", 10)
			url := filepath.Join(w.Graph(), found.params.Edges[1])
			if err := test.damage(t.Context(), url, filepath.Join(w.Graph(), found.params.Edges[2])); err != nil {
				t.Fatal(err)
			}
			err := found.find(t.Context(), pipelinetest.Environment())
			if err == nil || !strings.Contains(err.Error(), url) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v, want %s and %q", err, url, test.says)
			}
		})
	}
}

// TestKilled kills a run that has written a file, and holds that the next one keeps it and ends with the same bytes.
func TestKilled(t *testing.T) {
	w := sharded(t, 2, 500)
	arguments := []string{"--workspace", w.Root(), "--reach", "150", "--layers", "3", "--memory", "330"}
	folder := filepath.Join(w.Root(), "bundles", parts.Name("train", 150, 3))
	c := pipelinetest.Command(t, arguments...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	written := ""
	for deadline := time.Now().Add(time.Minute); written == "" && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if files, _ := filepath.Glob(filepath.Join(folder, "parts-*.arrow")); len(files) > 0 {
			written = files[0]
		}
	}
	c.Process.Kill()
	if err := c.Wait(); err == nil || written == "" {
		t.Fatalf("the run was not killed after its first file, %q", written)
	}
	before, err := os.Stat(written)
	if err != nil {
		t.Fatal(err)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), arguments...); !strings.Contains(out, "files are written already") {
		t.Errorf("the second run says %q", out)
	}
	if after, err := os.Stat(written); err != nil || !os.SameFile(before, after) {
		t.Errorf("%s was written again (%v)", written, err)
	}
	got := pipelinetest.Files(t, folder)
	pipelinetest.Succeed(t, Pipeline(), append(arguments, "--force")...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), got)
}
