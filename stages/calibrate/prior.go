package calibrate

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/checkpoint"
	"tagnet/model/prior"
	"tagnet/model/ranker"
	"tagnet/stages/bundle"
	"tagnet/stages/graph"
	"tagnet/stages/score"
)

func init() {
	beam.RegisterDoFn(&tryFn{})
	beam.RegisterDoFn(&chooseFn{})
}

// Prior chooses the weight of the prior of a checkpoint, that with the highest MRR of the queries, and writes the prior. Output: its URL, or nothing
// if there are no queries. The queries are scored once.
func Prior(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("calibrate.Prior")
	p.Model.Tries, p.Model.Best, p.Queries.Best = true, 0, 0
	tried := beam.ParDo(s, &tryFn{Params: p}, bundle.Shards(s, p.Queries))
	return beam.ParDo(s, &chooseFn{Params: p}, beam.GroupByKey(s, tried))
}

type tryFn struct{ Params Params }

// ProcessElement ranks the answers of a shard with each weight, and emits its sums under one key.
func (f *tryFn) ProcessElement(ctx context.Context, shard bundle.Shard, emit func(int, []byte)) error {
	return score.Shard(ctx, f.Params.Model, f.Params.Queries, shard, func(_ context.Context, scored *ranker.Scored) error {
		element, err := binary.Append(nil, binary.LittleEndian, sumsOf(scored))
		if err != nil {
			return err
		}
		emit(0, element)
		return nil
	})
}

// inverseUnit is the unit of sums of inverse ranks. They are integers, so that their order changes nothing, and hold those of MostRows.
const inverseUnit = 1 << 40

// sumsOf returns the number of answers, and the sum of their inverse ranks with each weight.
func sumsOf(scored *ranker.Scored) []int64 {
	sums := make([]int64, 1+len(prior.Weights()))
	for _, q := range scored.Queries {
		sums[0] += int64(len(q.Results))
		for i, ranks := range q.Tried {
			for _, rank := range ranks {
				sums[1+i] += inverseUnit / rank
			}
		}
	}
	return sums
}

// choose returns the weight with the highest MRR, the first of several.
func choose(sums []int64) *prior.Prior {
	mrr := func(i int) float64 { return float64(sums[1+i]) / inverseUnit / float64(sums[0]) }
	p := &prior.Prior{Without: mrr(0), With: -1}
	for i, weight := range prior.Weights() {
		if m := mrr(i); m > p.With {
			p.Weight, p.With = weight, m
		}
	}
	return p
}

type chooseFn struct{ Params Params }

// ProcessElement chooses by the sums of all shards.
func (f *chooseFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(string)) error {
	p := f.Params.Model
	sums := make([]int64, 1+len(prior.Weights()))
	var element []byte
	for elements(&element) {
		of := make([]int64, len(sums))
		if err := binary.Read(bytes.NewReader(element), binary.LittleEndian, of); err != nil {
			return err
		}
		for i, n := range of {
			sums[i] += n
		}
	}
	loaded, err := graph.Load(ctx, p.Graph)
	if err != nil {
		return err
	}
	folder := checkpoint.Folder(p.Checkpoints)
	record, err := folder.Record(ctx, p.Checkpoint)
	if err != nil {
		return err
	}
	chosen := choose(sums)
	chosen.Counts = prior.Count(loaded.Train.Graph)
	if err := folder.SavePrior(f.Params.Lock.Guard(ctx), record, chosen); err != nil {
		return err
	}
	emit(folder.PriorURL(record.Name()))
	return nil
}
