package discover

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/answer"
	"tagnet/model/answer/discovery"
	"tagnet/stages/encode"
	"tagnet/stages/predict"
)

func init() { beam.RegisterDoFn(&candidatesFn{}) }

// CandidatesParams are the parameters of Candidates.
type CandidatesParams struct {
	// Params asks for tails, for heads, or for both, and lists the best new answers with their ranks.
	predict.Params
	// Spills has the spill files. Name begins the names of the spill files and of their index. Required.
	Spills SpillFolder
	Name   string
	// TopK is the number of best answers of a query that are not judged: Best less the most that are.
	TopK int
}

// Candidates scores queries and writes their best answers as candidates. Output: the URL of the index.
func Candidates(s beam.Scope, p CandidatesParams) beam.PCollection {
	s = s.Scope("discover.Candidates")
	return index(s, p.Spills, p.Name, beam.ParDo(s, &candidatesFn{Params: p}, predict.Shards(s, p.Queries)))
}

type candidatesFn struct{ Params CandidatesParams }

// ProcessElement scores a shard and writes its candidates.
func (f *candidatesFn) ProcessElement(ctx context.Context, shard predict.Shard, emit func(Section)) error {
	return shard.Score(ctx, f.Params.Params, func(ctx context.Context, scored *answer.Scored) error {
		return f.write(f.Params.Spills.Lock.Guard(ctx), shard, scored, emit)
	})
}

// write writes the best answers of a shard to spill files and emits their sections.
func (f *candidatesFn) write(ctx context.Context, shard predict.Shard, scored *answer.Scored, emit func(Section)) error {
	loaded, err := encode.Load(ctx, f.Params.Queries.Graph, f.Params.Queries.Without...)
	if err != nil {
		return err
	}
	base := int32(len(loaded.Relations))
	var candidates []discovery.Candidate
	err = f.Params.Use(ctx, func(m *answer.Model) error {
		for i := range scored.Queries {
			best := discovery.BestAnswers(&scored.Queries[i], base)
			best = slices.DeleteFunc(best, func(c discovery.Candidate) bool { return m.Judged().Verdict(c.Fact) != "" })
			candidates = append(candidates, best[:min(f.Params.TopK, len(best))]...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	emit(Section{Queries: int64(len(scored.Queries))})
	if len(candidates) == 0 {
		return nil
	}
	name := fmt.Sprintf("%s-%05d-of-%05d", f.Params.Name, shard.Number, shard.Of)
	if err := f.Params.Spills.writeAnswers(ctx, name+"-answers", candidates, base, emit); err != nil {
		return err
	}
	return f.Params.Spills.writeFacts(ctx, name, candidates, emit)
}
