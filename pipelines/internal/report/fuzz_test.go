package report

import (
	"context"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/workspace"
)

// summaries are the JSON files of a workspace that a page shows, each with what reads it into the evidence.
var summaries = []struct {
	file string
	read func(e *evidence, url string) error
}{
	{"graph/summary.json", func(e *evidence, url string) error { return set[counts.Dataset](url, &e.graph) }},
	{"distances/test/distribution.json", func(e *evidence, url string) error {
		var d *counts.Distribution
		err := set(url, &d)
		if err == nil {
			e.distances = []counts.Distribution{*d}
		}
		return err
	}},
	{"runs/main/messages/test/summary.json", func(e *evidence, url string) error {
		var m *counts.Summary
		err := set(url, &m)
		if err == nil {
			e.messages = []counts.Summary{*m}
		}
		return err
	}},
	{"runs/main/checkpoints/epoch-012.json", func(e *evidence, url string) error { return set[checkpoint.Record](url, &e.checkpoint) }},
	{"runs/main/evaluation/test/metrics.json", func(e *evidence, url string) error {
		var m *metrics.Evaluation
		err := set(url, &m)
		if err == nil {
			e.evaluations = []evaluation{{Evaluation: *m, ranks: e.evaluations[0].ranks}}
		}
		return err
	}},
}

// set sets a pointer to the checked content of a file, and leaves it as it is with an error.
func set[T strict.Checked](url string, to **T) error {
	value, err := storage.ReadJSON[T](context.Background(), url)
	if err == nil {
		*to = &value
	}
	return err
}

// FuzzSummaries checks that a page can be made of every summary that its Check accepts.
func FuzzSummaries(f *testing.F) {
	const root = "mem://report/fuzz"
	w := workspace.New(root)
	of := fixture{f, w, 3, 8}
	of.all()
	complete(f, w)
	all, err := collect(f.Context(), w, 0)
	if err != nil {
		f.Fatal(err)
	}
	for i, s := range summaries {
		text, err := storage.ReadFile(f.Context(), w.Path(s.file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text []byte) {
		e, url := *all, storage.Join(root, t.Name()+".json")
		if err := storage.WriteFile(t.Context(), url, text); err != nil {
			t.Fatal(err)
		}
		if summaries[int(kind)%len(summaries)].read(&e, url) != nil {
			return
		}
		page := e.compose()
		if _, err := page.html(); err != nil {
			t.Error(err)
		}
	})
}
