package discover

import (
	"bytes"
	"context"
	"encoding/gob"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&cutListFn{})
	beam.RegisterDoFn(&explainFn{})
	beam.RegisterDoFn(&textFn{})
	beam.RegisterFunction(sum)
}

// factRange is a range of the list, and with gob an element.
type factRange struct {
	// Number of Of is the part of explanations, From the number of facts before the range.
	Number, Of int
	From       int64
	Facts      []graph.Fact
}

type cutListFn struct{ Params ListParams }

// ProcessElement writes the list, and emits its ranges.
func (f *cutListFn) ProcessElement(ctx context.Context, _ int, selected func(*Selected) bool, emit func([]byte)) error {
	number := int64(0)
	var facts []graph.Fact // that are not emitted
	return f.Params.write(ctx, selected, func(from, listed int64, entries []discovery.Entry) error {
		for i := range entries {
			facts = append(facts, entries[i].Fact)
		}
		ranges := Explained(listed, f.Params.Queries.Paths)
		for ; number < ranges && (number+1)*listed/ranges <= from+int64(len(entries)); number++ {
			before, n := number*listed/ranges, (number+1)*listed/ranges-number*listed/ranges
			var element bytes.Buffer
			if err := gob.NewEncoder(&element).Encode(factRange{int(number), int(ranges), before, facts[:n]}); err != nil {
				return err
			}
			emit(element.Bytes())
			facts = facts[n:]
		}
		return nil
	})
}

// Explained returns the number of parts of a table that explains facts by paths paths each.
func Explained(facts int64, paths int) int64 {
	return workload.Count(facts, facts*int64(workload.AnswerRows(paths)), 0)
}

type explainFn struct{ Params ListParams }

// ProcessElement explains a range, writes its part and emits 1.
func (f *explainFn) ProcessElement(ctx context.Context, element []byte, emit func(int64)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	var r factRange
	if err := gob.NewDecoder(bytes.NewReader(element)).Decode(&r); err != nil {
		return err
	}
	answers := make([]evaluation.Explained, len(r.Facts))
	for i, f := range r.Facts {
		answers[i] = evaluation.Explained{Number: r.From + int64(i) + 1, Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}}
	}
	if err := predict.Explain(ctx, f.Params.Params, f.Params.Folder, r.Number, r.Of, answers); err != nil {
		return err
	}
	emit(1)
	return nil
}

func sum(a, b int64) int64 { return a + b }

type textFn struct{ Params ListParams }

// ProcessElement writes explanations.tsv when all parts are written.
func (f *textFn) ProcessElement(ctx context.Context, parts int64, emit func(string)) error {
	if err := predict.WriteExplanations(f.Params.Lock.Guard(ctx), f.Params.Folder, int(parts)); err != nil {
		return err
	}
	emit(storage.Join(f.Params.Folder, metrics.DiscoveryFile))
	return nil
}
