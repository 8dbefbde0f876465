package discover

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/probability"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&selectFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeFor[Selected]())
}

// The names of the outputs: a table, which is a folder of parts, and its text.
const (
	Table = "facts"
	Text  = "facts.tsv"
)

// RowsPerPart is the number of facts of a part of the table.
const RowsPerPart = 1 << 17

// ListParams are the parameters of List.
type ListParams struct {
	// Spills has the spill files of candidates, of the names Of, and those of Backward. Required.
	Spills SpillFolder
	Of     []string
	// Folder is the URL of the folder of the outputs. Required.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
	// TopK is the number of best new answers of a query that are candidates.
	TopK int
	// Most facts are listed, with at least the probability Least.
	Most  int
	Least float64
	// Params scored the facts, has their probabilities, if there are any, and explains them if there are Paths.
	predict.Params
}

// Selected are the best facts of a range. It is an element of pipelines.
type Selected struct {
	// Spill has their entries, in order.
	Spill externalsort.Spill
	// Candidates counts the facts of the range, WithoutProbability those without a probability, if
	// there are probabilities.
	Candidates, WithoutProbability int64
}

// List writes the list of new facts, and explains them. Output: the URL of metrics.DiscoveryFile, when all is written.
func List(s beam.Scope, p ListParams) beam.PCollection {
	s = s.Scope("discover.List")
	selected := beam.GroupByKey(s, beam.AddFixedKey(s, beam.ParDo(s, &selectFn{Params: p}, ranges(s))))
	if p.Queries.Paths == 0 {
		return beam.ParDo(s, &writeFn{Params: p}, selected)
	}
	// The facts of a range are explained where their part of the table of explanations is written.
	explained := beam.ParDo(s, &explainFn{Params: p}, beam.Reshuffle(s, beam.ParDo(s, &cutListFn{Params: p}, selected)))
	return beam.ParDo(s, &textFn{Params: p}, beam.Combine(s, sum, explained))
}

// names returns those of all candidates, and of the answers to the other query of each.
func (p ListParams) names() []string { return append(slices.Clip(p.Of), backwardName) }

type selectFn struct{ Params ListParams }

// ProcessElement selects the facts of a range that may be in the list.
func (f *selectFn) ProcessElement(ctx context.Context, number int, emit func(Selected)) error {
	p := f.Params
	ctx, leave, err := worker.Enter(p.Lock.Guard(ctx), 1)
	if err != nil {
		return err
	}
	defer leave()
	estimator, err := p.Estimator(ctx)
	if err != nil {
		return err
	}
	spills, err := p.Spills.ofRange(ctx, p.names(), factRecords, number)
	if err != nil {
		return err
	}
	var out Selected
	// Both lists of ranks are sorted by fact, so that the two ranks of a fact meet; its probability follows from them.
	best := discovery.Best{Most: p.Most}
	var observed []probability.Observation
	estimate := func() error {
		err := p.estimate(ctx, observed, estimator, &best, &out)
		observed = observed[:0]
		return err
	}
	add, end := discovery.Join(func(o *probability.Observation) error {
		out.Candidates++
		if observed = append(observed, *o); len(observed) < estimatedTogether {
			return nil
		}
		return estimate()
	})
	prefix := storage.Join(p.Spills.Folder, fmt.Sprintf("best-%02d", number))
	if err := externalsort.Merge(ctx, externalsort.FactRows, spills, prefix, func(r externalsort.FactRow, _ int) error { return add(r) }); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	if err := estimate(); err != nil {
		return err
	}
	// The best facts of the range, sorted.
	if out.Spill, err = writeEntries(ctx, prefix, &best); err != nil {
		return err
	}
	emit(out)
	return nil
}

// estimatedTogether is the number of facts whose rivals are looked for together.
const estimatedTogether = 1 << 16

// estimate adds facts with their estimates to the best. Its propagations belong to the fact's rivals.
func (p ListParams) estimate(ctx context.Context, observed []probability.Observation, e *probability.Estimator, best *discovery.Best, out *Selected) error {
	if e == nil { // no model is needed
		for _, o := range observed {
			best.Add(discovery.Entry{Observation: o})
		}
		return nil
	}
	return p.Use(ctx, func(m *answer.Model) error {
		list, _, err := m.Estimate(ctx, observed, e, nil)
		for _, j := range list {
			if !j.HasProbability {
				out.WithoutProbability++
			}
			if j.Probability >= p.Least {
				best.Add(discovery.Entry{Observation: j.Observation, Estimate: j.Estimate})
			}
		}
		return err
	})
}

func writeEntries(ctx context.Context, url string, best *discovery.Best) (externalsort.Spill, error) {
	best.Sort()
	w, err := externalsort.Create(ctx, url, externalsort.RankedRows)
	if err != nil {
		return externalsort.Spill{}, err
	}
	defer w.Abort()
	for i := range best.Entries {
		if err := w.Write(best.Entries[i].Record()); err != nil {
			return externalsort.Spill{}, err
		}
	}
	return w.Cut(), w.Commit()
}

type writeFn struct{ Params ListParams }

func (f *writeFn) ProcessElement(ctx context.Context, _ int, selected func(*Selected) bool, emit func(string)) error {
	if err := f.Params.write(ctx, selected, func(from, listed int64, entries []discovery.Entry) error { return nil }); err != nil {
		return err
	}
	emit(storage.Join(f.Params.Folder, metrics.DiscoveryFile))
	return nil
}

// write writes the list of what ranges selected, and calls each with the entries of each part, how many come before,
// and how many there are in all.
func (p ListParams) write(ctx context.Context, selected func(*Selected) bool, each func(from, listed int64, entries []discovery.Entry) error) error {
	ctx = p.Lock.Guard(ctx)
	// The ranges' selections are merged; the best of them are the list.
	var sum Selected
	var spills []externalsort.Spill
	var one Selected
	for selected(&one) {
		sum.Candidates, sum.WithoutProbability = sum.Candidates+one.Candidates, sum.WithoutProbability+one.WithoutProbability
		sum.Spill.Records += one.Spill.Records
		spills = append(spills, one.Spill)
	}
	listed := min(sum.Spill.Records, int64(p.Most))
	_, names, err := p.View(ctx)
	if err != nil {
		return err
	}
	// The table, in parts, then its text and its description.
	table := storage.Join(p.Folder, Table)
	parts := int(max(1, (listed+RowsPerPart-1)/RowsPerPart))
	from, part := int64(0), 0
	err = chunks(ctx, spills, storage.Join(p.Spills.Folder, "list"), listed, func(entries []discovery.Entry) error {
		if err := parquet.Write(ctx, parquet.PartFile(table, part, parts), names.Facts(entries, from)); err != nil {
			return err
		}
		if err := each(from, listed, entries); err != nil {
			return err
		}
		from, part = from+int64(len(entries)), part+1
		return nil
	})
	if err != nil {
		return err
	}
	if err := parquet.WriteText(ctx, storage.Join(p.Folder, Text), evaluation.FactsHeading, table, parts, evaluation.FactLines); err != nil {
		return err
	}
	return p.describe(ctx, metrics.Discovery{Candidates: sum.Candidates, Listed: listed}, names.Relations, sum.WithoutProbability)
}

// chunks calls each with the first listed entries of all spills, a part of the table at a time, at least once.
func chunks(ctx context.Context, spills []externalsort.Spill, prefix string, listed int64, each func([]discovery.Entry) error) error {
	var entries []discovery.Entry
	left := listed
	enough := errors.New("the list is complete")
	err := externalsort.Merge(ctx, externalsort.RankedRows, spills, prefix, func(r externalsort.RankedRow, _ int) error {
		if left == 0 {
			return enough
		}
		left--
		if entries = append(entries, discovery.EntryOf(r)); len(entries) < RowsPerPart || left == 0 {
			return nil
		}
		err := each(entries)
		entries = entries[:0]
		return err
	})
	if err != nil && err != enough {
		return err
	}
	return each(entries)
}

// presumed describes what an estimator presumes of relations.
func presumed(e *probability.Estimator, relations []string, unclaimed int64) *metrics.Presumed {
	of := &metrics.Presumed{Missing: e.Presumed().Missing, Guessed: e.Presumed().Guessed, Told: e.Presumed().Told,
		Shares: map[string]float64{}, Most: map[string]float64{},
		WithoutProbability: unclaimed}
	for r, share := range e.Presumed().Own() {
		of.Shares[relations[r]] = share
	}
	for r, name := range relations {
		if most, told := e.Most(int32(r)); told {
			of.Most[name] = most
		}
	}
	return of
}

// describe writes the description of the list, metrics.DiscoveryFile.
func (p ListParams) describe(ctx context.Context, d metrics.Discovery, relations []string, unclaimed int64) error {
	d.Graph, d.Checkpoint, d.TopK = p.Queries.Split, p.Model.Checkpoint, p.TopK
	for _, name := range p.names() {
		asked, err := p.Spills.Index(ctx, name)
		switch {
		case err != nil:
			return err
		case name == backwardName:
			d.BackwardQueries += asked.Queries
		default:
			d.Queries += asked.Queries
		}
	}
	estimator, err := p.Estimator(ctx)
	if err != nil {
		return err
	}
	if estimator != nil {
		d.Probabilities = presumed(estimator, relations, unclaimed)
	}
	return storage.WriteJSON(ctx, storage.Join(p.Folder, metrics.DiscoveryFile), d)
}
