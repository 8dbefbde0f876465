package discover

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model/calibration"
	"tagnet/model/discovery"
	"tagnet/model/evaluation"
	modelgraph "tagnet/model/graph"
	"tagnet/stages/graph"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&modelFn{})
	beam.RegisterDoFn(&cutFn{})
	beam.RegisterDoFn(&selectFn{})
	beam.RegisterDoFn(&writeFn{})
}

// The names of the outputs: a table, which is a folder of parts, and its text.
const (
	Table = "facts"
	Text  = "facts.tsv"
)

// ListParams are the parameters of List.
type ListParams struct {
	MergeParams
	// Checkpoint is the name of the one that scored.
	Checkpoint string
	// TopK is the number of best new answers of a query that are candidates.
	TopK int
	// Most facts are listed, with at least the probability Least.
	Most  int
	Least float64
	// Missing is that of discovery.Model.Probability.
	Missing float64
	// Model explains the facts, if it has Paths.
	Model score.Params
}

// model returns the model that Fit wrote, or nil.
func (p ListParams) model(ctx context.Context) (*discovery.Model, error) {
	m, err := storage.ReadJSON[*discovery.Model](ctx, storage.Join(p.Folder, ModelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// List writes the list of new facts, explains them, and compares the list with those of the test split. Output: the URL of
// metrics.DiscoveryFile, when all is written.
func List(s beam.Scope, p ListParams) beam.PCollection {
	s = s.Scope("discover.List")
	ranges := beam.Reshuffle(s, beam.ParDo(s, &modelFn{Params: p}, beam.Impulse(s)))
	counted := beam.GroupByKey(s, beam.AddFixedKey(s, beam.ParDo(s, &countFn{Params: p.MergeParams, True: discovery.Test, False: discovery.New}, ranges)))
	chosen := beam.Reshuffle(s, beam.ParDo(s, &cutFn{Params: p}, counted))
	selected := beam.GroupByKey(s, beam.AddFixedKey(s, beam.ParDo(s, &selectFn{Params: p}, chosen)))
	if p.Model.Paths == 0 {
		return beam.ParDo(s, &writeFn{Params: p}, selected)
	}
	return explain(s, p, selected)
}

type modelFn struct{ Params ListParams }

// ProcessElement emits a task for each range.
func (f *modelFn) ProcessElement(ctx context.Context, _ []byte, emit func(Task)) error {
	m, err := f.Params.model(ctx)
	if err != nil {
		return err
	}
	var text []byte
	if m != nil {
		if text, err = json.Marshal(m); err != nil {
			return err
		}
	}
	for _, t := range tasks(string(text)) {
		emit(t)
	}
	return nil
}

type cutFn struct{ Params ListParams }

// ProcessElement finds out where the list ends, writes what is known of it, and emits a task for each range.
func (f *cutFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(Task)) error {
	sum, err := merge(elements)
	if err != nil {
		return err
	}
	m, err := Task{Model: string(sum.Model)}.model()
	if err != nil {
		return err
	}
	p := f.Params
	probability := func(float64) float64 { return 1 }
	if m != nil {
		probability = func(score float64) float64 { return m.Probability(score, p.Missing) }
	}
	from := sum.Histogram.Cut(int64(p.Most), func(score float64) bool { return probability(score) >= p.Least })
	d := metrics.Discovery{Split: p.Split, Checkpoint: p.Checkpoint, TopK: p.TopK}
	candidates, tested := sum.Histogram.Total()
	d.Candidates = candidates - tested
	listed, found := sum.Histogram.From(from)
	d.Listed = min(listed-found, int64(p.Most))
	if m != nil {
		d.Fitted = &metrics.Fitted{Candidates: m.Listed, True: m.True, Facts: m.Held, Missing: m.Missing, FittedMissing: m.Missing}
		if p.Missing > 0 {
			d.Fitted.Missing = p.Missing
		}
	}
	if tested > 0 {
		d.HeldOut = heldOut(&sum.Histogram, from, tested)
		if m != nil {
			d.HeldOut.Reliability = reliability(&sum.Histogram, from, probability)
		}
	}
	if err := storage.WriteJSON(p.Lock.Guard(ctx), storage.Join(p.Folder, metrics.DiscoveryFile), d); err != nil {
		return err
	}
	for _, t := range tasks(string(sum.Model)) {
		t.From = from
		emit(t)
	}
	return nil
}

// heldOut compares the facts of a list that ends at a score with those of the test split.
func heldOut(h *discovery.Histogram, from float64, tested int64) *metrics.HeldOut {
	out := &metrics.HeldOut{Facts: tested}
	out.Listed, out.Found = h.From(from)
	first, isTrue := h.From(h.First(tested))
	out.First, out.Precision = first, float64(isTrue)/float64(max(1, first))
	return out
}

// reliability compares the probabilities of a list with the facts of the test split.
func reliability(h *discovery.Histogram, from float64, probability func(score float64) float64) metrics.Reliability {
	var r calibration.Reliability
	h.Each(func(score float64, facts, isTrue int64) {
		if score >= from {
			r.AddAll(probability(score), facts, isTrue)
		}
	})
	return r.Table()
}

type selectFn struct{ Params ListParams }

// selected is a fact of the list, of fixed size.
type selected struct {
	modelgraph.Fact
	Tails, Heads discovery.Side
	Distance     int32
	Score        float64
}

// ProcessElement emits the facts of a range that may be in the list.
func (f *selectFn) ProcessElement(ctx context.Context, task Task, emit func([]byte)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), 1)
	if err != nil {
		return err
	}
	defer leave()
	best := discovery.Best{Most: f.Params.Most}
	err = f.Params.scored(ctx, task, "select", func(fact *discovery.Fact, score float64) {
		if fact.Held == discovery.New && discovery.Step(score) >= task.From {
			best.Add(discovery.Ranked{Fact: *fact, Score: score})
		}
	})
	if err != nil {
		return err
	}
	var element bytes.Buffer
	for _, r := range best.Facts {
		s := selected{r.Fact.Fact, r.Tails, r.Heads, r.Distance, r.Score}
		if err := binary.Write(&element, binary.LittleEndian, s); err != nil {
			return err
		}
	}
	emit(element.Bytes())
	return nil
}

type writeFn struct{ Params ListParams }

// RowsPerPart is the number of facts of a part of the table.
const RowsPerPart = 1 << 17

// ProcessElement writes the list.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(string)) error {
	if _, err := f.Params.write(ctx, elements); err != nil {
		return err
	}
	emit(storage.Join(f.Params.Folder, metrics.DiscoveryFile))
	return nil
}

// write writes the list that is made of elements of selectFn, and returns the queries that explain its facts.
func (p ListParams) write(ctx context.Context, elements func(*[]byte) bool) (queries []modelgraph.Query, err error) {
	ctx = p.Lock.Guard(ctx)
	best := discovery.Best{Most: p.Most}
	var element []byte
	size := binary.Size(selected{})
	for elements(&element) {
		read := make([]selected, len(element)/size)
		if err := binary.Read(bytes.NewReader(element), binary.LittleEndian, read); err != nil {
			return nil, err
		}
		for _, s := range read {
			fact := discovery.Fact{Fact: s.Fact, Tails: s.Tails, Heads: s.Heads, Distance: s.Distance}
			best.Add(discovery.Ranked{Fact: fact, Score: s.Score})
		}
	}
	loaded, err := graph.Load(ctx, p.Graph, p.Without...)
	if err != nil {
		return nil, err
	}
	m, err := p.model(ctx)
	if err != nil {
		return nil, err
	}
	entities := loaded.Of(p.Split).Entities
	names := evaluation.Names{Entity: func(id int32) string { return entities[id] }, Relations: loaded.Relations}
	sorted := best.Sorted()
	table := storage.Join(p.Folder, Table)
	parts := max(1, (len(sorted)+RowsPerPart-1)/RowsPerPart)
	for part := range parts {
		from := part * RowsPerPart
		rows := names.Facts(sorted[from:min(len(sorted), from+RowsPerPart)], from, m, p.Missing)
		if err := parquet.Write(ctx, parquet.PartFile(table, part, parts), rows); err != nil {
			return nil, err
		}
	}
	for i := range sorted {
		queries = append(queries, sorted[i].Query(int32(len(loaded.Relations))))
	}
	return queries, parquet.WriteText(ctx, storage.Join(p.Folder, Text), evaluation.FactsHeading, table, parts, evaluation.FactLines)
}

// Spills returns the files of some candidates, which are needed only until there is a list.
func Spills(ctx context.Context, folder, name string) (urls []string, err error) {
	index, err := storage.ReadJSON[Index](ctx, IndexURL(folder, name))
	if err != nil {
		return nil, fmt.Errorf("listing spill files: %w", err)
	}
	for _, s := range index.Sections {
		urls = append(urls, s.Spill.URL)
	}
	slices.Sort(urls)
	return append(slices.Compact(urls), IndexURL(folder, name)), nil
}
