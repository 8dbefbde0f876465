package parts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
)

// facts returns a graph with two hubs.
func facts(t *testing.T) *kg.KG {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) (list []kg.Triple) {
		for range n {
			tail := rng.IntN(150)
			if rng.IntN(3) == 0 {
				tail = rng.IntN(2)
			}
			list = append(list, kg.Triple{Head: fmt.Sprint("e", rng.IntN(150)), Relation: fmt.Sprint("r", rng.IntN(3)), Tail: fmt.Sprint("e", tail)})
		}
		return list
	}
	k, err := kg.New(draw(400), draw(40), draw(40))
	if err != nil {
		t.Fatal(err)
	}
	k.Manifest.Checksum = "abc"
	return k
}

func hyperparameters(remove string) configuration.Configuration {
	return configuration.Configuration{Reach: 20, Layers: 3, Remove: remove}
}

// TestPartsAreReadAsFound reads what a finder found, of queries in any order.
func TestPartsAreReadAsFound(t *testing.T) {
	t.Parallel()
	k := facts(t)
	outside := 0
	for _, c := range []struct {
		split, remove string
		drawn         *parts.Drawn
	}{
		{"train", configuration.RemoveTriple, nil}, {"train", configuration.RemoveOneHop, nil}, {"train", configuration.RemoveNone, nil},
		{"valid", configuration.RemoveTriple, nil}, {"test", configuration.RemoveTriple, nil},
		{"train", configuration.RemoveTriple, &parts.Drawn{Batching: configuration.BatchingGrouped, BatchSize: 8, QueriesPerEpoch: 50, Epochs: 2, Seed: 3}},
	} {
		folder := fmt.Sprintf("mem://%s/%s-%s-%v", t.Name(), c.split, c.remove, c.drawn != nil)
		if err := learntest.WriteParts(t.Context(), folder, k, c.split, hyperparameters(c.remove), c.drawn, 5); err != nil {
			t.Fatal(err)
		}
		f, err := parts.Open(t.Context(), folder, parts.Requirements{Split: c.split, Reach: 20, Layers: 3, Remove: c.remove, Graph: "abc"})
		if err != nil {
			t.Fatal(err)
		}
		found, err := learntest.FindParts(t.Context(), k, f.Header)
		if err != nil {
			t.Fatal(err)
		}
		present := map[int64]bool{}
		r := f.Reader()
		for _, i := range rand.Perm(len(found)) {
			want := found[i]
			for _, q := range want.Queries {
				present[q.Number] = true
				got, err := r.Find(q.Number)
				if err != nil {
					t.Fatal(err)
				}
				if i%4 > 0 { // comparing takes longest
					continue
				}
				if diff := cmp.Diff(&parts.Part{Subgraph: want.Part, Queries: want.Queries}, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s: part of query %d (-want +got):\n%s", folder, q.Number, diff)
				}
			}
			if f.Header.HasRemovals() && want.Part.Removal == graph.RemoveNothing {
				outside++
			}
		}
		for number := range f.Header.Queries {
			if _, err := r.Find(number); (err == nil) != present[number] || err != nil && !errors.Is(err, parts.ErrAbsent) {
				t.Errorf("%s: query %d is there: %v; error %v", folder, number, present[number], err)
			}
		}
		if c.drawn == nil && int64(len(present)) != f.Header.Queries || c.drawn != nil && (len(present) > 100 || len(present) < 80) {
			t.Errorf("%s: %d of %d queries are there", folder, len(present), f.Header.Queries)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if outside == 0 {
		t.Error("no fact's answer is outside its part")
	}
}

// TestFewFilesAreOpen reads a folder of very many files from several goroutines.
func TestFewFilesAreOpen(t *testing.T) {
	t.Parallel()
	folder := "mem://" + t.Name()
	if err := learntest.WriteParts(t.Context(), folder, facts(t), "train", hyperparameters(configuration.RemoveTriple), nil, 300); err != nil {
		t.Fatal(err)
	}
	f, err := parts.Open(t.Context(), folder, parts.Requirements{Split: "train", Reach: 20, Layers: 3, Remove: configuration.RemoveTriple, Graph: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			r := f.Reader()
			for _, number := range rand.New(rand.NewPCG(1, uint64(i))).Perm(int(f.Header.Queries)) {
				if p, err := r.Find(int64(number)); err != nil || p.Queries[0].Number != int64(number) {
					t.Errorf("query %d: part %v, error %v", number, p, err)
				}
			}
		})
	}
	group.Wait()
	if n := f.OpenFiles(); n < 200 || n > 260 {
		t.Errorf("%d of 300 files are open", n)
	}
	if err := f.Close(); err != nil || f.OpenFiles() > 0 {
		t.Errorf("%d files are open, error %v", f.OpenFiles(), err)
	}
}

// TestOtherFoldersAreRefused opens folders that are not complete, or have parts for something else.
func TestOtherFoldersAreRefused(t *testing.T) {
	t.Parallel()
	ctx, k := t.Context(), facts(t)
	want := parts.Requirements{Split: "train", Reach: 20, Layers: 3, Remove: configuration.RemoveTriple, Graph: "abc"}
	for name, c := range map[string]struct {
		change func(folder string, w *parts.Requirements)
		text   string
	}{
		"no manifest": {func(folder string, _ *parts.Requirements) {
			storage.Remove(ctx, storage.Join(folder, manifest.FileName))
		}, "no complete parts"},
		"no header": {func(folder string, _ *parts.Requirements) {
			storage.Remove(ctx, storage.Join(folder, parts.HeaderFile()))
		}, "header.json"},
		"another header": {func(folder string, _ *parts.Requirements) { lowerReach(t, ctx, folder) }, "cut short or changed"},
		"another graph":  {func(_ string, w *parts.Requirements) { w.Graph = "other" }, "another graph"},
		"another split":  {func(_ string, w *parts.Requirements) { w.Split = "valid" }, "split train, not valid"},
		"another reach":  {func(_ string, w *parts.Requirements) { w.Reach = 30 }, "at most 20 entities within 3 hops, not 30 within 3"},
		"other layers":   {func(_ string, w *parts.Requirements) { w.Layers = 4 }, "not 20 within 4"},
		"another removal": {func(_ string, w *parts.Requirements) { w.Remove = configuration.RemoveNone },
			`without "triple", not "none"; run bundle --split train --reach 20 --layers 3 --remove none --force, or give train --remove triple`},
	} {
		folder := "mem://" + t.Name() + "/" + strings.ReplaceAll(name, " ", "-")
		if err := learntest.WriteParts(ctx, folder, k, "train", hyperparameters(configuration.RemoveTriple), nil, 2); err != nil {
			t.Fatal(err)
		}
		w := want
		c.change(folder, &w)
		_, err := parts.Open(ctx, folder, w)
		remedy := fmt.Sprintf("run bundle --split %s --reach %d --layers %d", w.Split, w.Reach, w.Layers)
		if err == nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestOtherDrawsAreRefused names the command that finds the parts of what a training draws.
func TestOtherDrawsAreRefused(t *testing.T) {
	t.Parallel()
	random := parts.Drawn{Batching: configuration.BatchingRandom, BatchSize: 16, QueriesPerEpoch: 50, Epochs: 4, Seed: 3}
	h := parts.Header{Reach: 20, Layers: 3, Remove: configuration.RemoveTriple, Drawn: &random}
	const again = "run bundle --split train --reach 20 --layers 3"
	for name, c := range map[string]struct {
		change func(h *parts.Header, c *configuration.Configuration)
		text   string
	}{
		"the same":      {func(*parts.Header, *configuration.Configuration) {}, ""},
		"fewer epochs":  {func(_ *parts.Header, c *configuration.Configuration) { c.Epochs = 2 }, ""},
		"all are there": {func(h *parts.Header, _ *configuration.Configuration) { h.Drawn = nil }, ""},
		"more epochs": {func(_ *parts.Header, c *configuration.Configuration) { c.Epochs = 5 },
			again + " --queries_per_epoch 50 --epochs 5 --seed 3 --batch_size 16 --force"},
		"other batches": {func(_ *parts.Header, c *configuration.Configuration) { c.Batching = configuration.BatchingGrouped },
			"batching grouped, batch_size 16 and seed 3; " + again + " --force"},
		"all are drawn": {func(_ *parts.Header, c *configuration.Configuration) { c.QueriesPerEpoch = 0 }, "draws all; " + again + " --force"},
		"several answers": {func(h *parts.Header, c *configuration.Configuration) { h.Drawn, c.AnswersPerQuery = nil, 4 },
			"a query of the training has up to 4; set answers_per_query to 1"},
		"another removal": {func(h *parts.Header, c *configuration.Configuration) {
			h.Remove, c.Epochs = configuration.RemoveNone, 5
		},
			again + " --remove none --queries_per_epoch 50"},
	} {
		h, d := h, random.Configuration()
		d.Epochs = random.Epochs
		c.change(&h, &d)
		err := h.Draws(d, random.Seed)
		if (err != nil) != (c.text != "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func lowerReach(t *testing.T, ctx context.Context, folder string) {
	t.Helper()
	url := storage.Join(folder, parts.HeaderFile())
	text, err := storage.ReadFile(ctx, url)
	if err == nil {
		err = storage.WriteFile(ctx, url, []byte(strings.Replace(string(text), `"reach": 20`, `"reach": 19`, 1)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamagedPartsAreNamed reads a folder of which one file is missing, cut short, or that of another place.
func TestDamagedPartsAreNamed(t *testing.T) {
	t.Parallel()
	ctx, k := t.Context(), facts(t)
	want := parts.Requirements{Split: "test", Reach: 20, Layers: 3, Graph: "abc"}
	for name, change := range map[string]func(url, other string) error{
		"missing": func(url, _ string) error { return storage.Remove(ctx, url) },
		"cut": func(url, _ string) error {
			text, err := storage.ReadFile(ctx, url)
			return errors.Join(err, storage.WriteFile(ctx, url, text[:len(text)-9]))
		},
		"another": func(url, other string) error {
			text, err := storage.ReadFile(ctx, other)
			return errors.Join(err, storage.WriteFile(ctx, url, text))
		},
	} {
		folder := "mem://" + t.Name() + "/" + name
		if err := learntest.WriteParts(ctx, folder, k, "test", hyperparameters(configuration.RemoveTriple), nil, 2); err != nil {
			t.Fatal(err)
		}
		url := storage.Join(folder, parts.File(1, 2))
		if err := change(url, storage.Join(folder, parts.File(0, 2))); err != nil {
			t.Fatal(err)
		}
		f, err := parts.Open(ctx, folder, want)
		if err != nil {
			t.Fatal(err)
		}
		r := f.Reader()
		if _, err := r.Find(0); err != nil {
			t.Errorf("%s: the file that is whole: error %v", name, err)
		}
		if _, err := r.Find(f.Header.Firsts[1]); err == nil || !strings.Contains(err.Error(), url) || errors.Is(err, parts.ErrAbsent) {
			t.Errorf("%s: error %v", name, err)
		}
		f.Close()
	}
}
