package predict

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/workload"
	"tagnet/stages/evaluation"
)

func init() {
	beam.RegisterDoFn(&triplesFn{})
	beam.RegisterDoFn(&triplesTextFn{})
	beam.RegisterFunction(sum)
}

// The names of the outputs of Triples.
const (
	TriplesTable = "triples"
	TriplesFile  = "triples.tsv"
)

// Triples scores and writes given triples, or the triples of given pairs with every relation, as
// Queries.TableKind says.
// Output: the URL of triples.tsv. The worker that scores a shard writes the shard's part of the table: given triples in
// the order of head, relation and tail, of each pair the best Relations, the best first.
func Triples(s beam.Scope, p AskParams) beam.PCollection {
	s = s.Scope("predict.Triples")
	written := beam.ParDo(s, &triplesFn{Params: p}, Shards(s, p.Queries))
	return beam.ParDo(s, &triplesTextFn{Params: p}, beam.Combine(s, sum, written))
}

func sum(a, b int64) int64 { return a + b }

type triplesFn struct{ Params AskParams }

// ProcessElement scores a shard, writes its part and emits 1.
func (f *triplesFn) ProcessElement(ctx context.Context, shard Shard, emit func(int64)) error {
	return shard.Score(ctx, f.Params.Params, func(ctx context.Context, scored *answer.Scored) error {
		rows, err := f.rows(ctx, scored)
		if err != nil {
			return err
		}
		if err := parquet.Write(f.Params.Lock.Guard(ctx), parquet.PartFile(f.Params.url(TriplesTable), shard.Number, shard.Of), rows); err != nil {
			return err
		}
		emit(1)
		return nil
	})
}

func (f *triplesFn) rows(ctx context.Context, scored *answer.Scored) ([]parquet.Triple, error) {
	view, names, err := f.Params.View(ctx)
	if err != nil {
		return nil, err
	}
	known, err := view.Answers(ctx)
	if err != nil {
		return nil, err
	}
	// A triple is known if any split has it.
	isKnown := func(o *answer.Observed) bool {
		_, is := slices.BinarySearch(known.Of(o.Head, o.Relation), o.Tail)
		return is
	}
	observed := scored.Observed()
	// Pairs keep their best relations; triples are in the order of their ids.
	pairs := f.Params.Queries.TableKind == workload.GivenPairs
	slices.SortFunc(observed, func(a, b answer.Observed) int {
		if pairs {
			return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Tail, b.Tail), cmp.Compare(a.Relation, b.Relation))
		}
		return a.Compare(b.Fact)
	})
	list, err := f.estimates(ctx, observed)
	switch {
	case err != nil:
		return nil, err
	case pairs:
		return evaluation.BestRelations(names.Triples(observed, len(names.Relations), isKnown, list), f.Params.Relations), nil
	}
	mined, err := f.Params.Rules.read(ctx)
	if err != nil {
		return nil, err
	}
	rows := names.Triples(observed, 1, isKnown, list)
	for i := range rows {
		rows[i].Against = names.Against(observed[i].Fact, mined.Against(view.Graph, observed[i].Fact))
	}
	return rows, nil
}

// estimates returns the estimates of triples, or nil without probabilities.
func (f *triplesFn) estimates(ctx context.Context, observed []answer.Observed) (list []answer.Estimated, err error) {
	estimator, err := f.Params.Estimator(ctx)
	if estimator == nil || err != nil {
		return nil, err
	}
	plain := make([]probability.Observation, len(observed))
	for i, o := range observed {
		plain[i] = o.Observation
	}
	err = f.Params.Use(ctx, func(m *answer.Model) error {
		list, _, err = m.Estimate(ctx, plain, estimator, nil)
		return err
	})
	return list, err
}

type triplesTextFn struct{ Params AskParams }

// ProcessElement writes triples.tsv when all parts are written: given triples with the least plausible first, the
// relations of pairs as they are in the table.
func (f *triplesTextFn) ProcessElement(ctx context.Context, parts int64, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	var rows []parquet.Triple
	url, table, found := f.Params.url(TriplesFile), f.Params.url(TriplesTable), int64(0)
	err := parquet.EachPart(ctx, table, func(part []parquet.Triple) error {
		found++
		rows = append(rows, part...)
		return nil
	})
	switch {
	case err != nil:
		return err
	case found != parts:
		return fmt.Errorf("%s has %d parts, but %d were written: run again", table, found, parts)
	case f.Params.Queries.TableKind == workload.GivenTriples:
		slices.SortStableFunc(rows, evaluation.LeastPlausible)
	}
	if err := storage.WriteFile(ctx, url, append([]byte(evaluation.TriplesHeading), evaluation.TripleLines(rows)...)); err != nil {
		return err
	}
	emit(url)
	return nil
}
