package answer

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
	"tagnet/model/relations"
)

// Device is what a model computes on in the CPU's place, as long as it can; accelerator.Selection is one.
type Device interface {
	// Devices is the number of devices that score, 0 once the CPU has taken over.
	Devices() int
	// NewScorer returns a scorer of a model over a graph, with a copy of the weights on the devices. between is the graph of the relations,
	// or nil: then it is made where the model needs it.
	NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (Scorer, error)
	// FallBack lets the CPU take over after an error of NewScorer, or one that says that memory is short, and returns true, unless the
	// device is the user's choice. String then says why.
	FallBack(err error) bool
	// Discard gives up a device that was lost, by the error of a scorer. It does nothing after other errors.
	Discard(err error)
	// String says what is computed on, "" if that is the CPU by the user's choice.
	String() string
}

// Scorer scores all entities for queries on a device, and keeps what is of interest. It is for one goroutine at a time.
type Scorer interface {
	// Score answers queries of which Bundle.Check found no fault and that have no Part, in their order, with the selected candidates, at
	// most as many as the graph has entities. A score that is NaN or infinite is an error, ranking.ErrNotFinite, that names the query.
	Score(ctx context.Context, queries []Request, list ranking.Selection) (*Scored, error)
	// Close frees what the scorer holds.
	Close() error
}

// deviceRanker is a Ranker on a device, for one goroutine at a time.
type deviceRanker struct {
	entities, relations int
	list                ranking.Selection
	scorer              Scorer // nil once closed
	together            int    // queries that it is given at a time
}

// newDeviceRanker returns a ranker over a graph of that many entities and relations (2R) that keeps
// the selected candidates of each query, with a scorer of so many devices. Its Close closes the scorer.
func newDeviceRanker(entities, relations int, list ranking.Selection, scorer Scorer, devices int) Ranker {
	list.K = min(list.K, entities)
	return &deviceRanker{entities: entities, relations: relations, list: list, scorer: scorer, together: groupSize * devices}
}

// groupSize is how many queries a device is given at a time: enough to keep a large one busy, few
// enough that an interrupt takes effect within seconds on a small one.
const groupSize = 512

func (r *deviceRanker) Rank(ctx context.Context, b *Bundle, done func(rows int)) (*Scored, error) {
	if err := b.Check(r.entities, r.relations); err != nil {
		return nil, err
	}
	if r.scorer == nil {
		return nil, errors.New("scoring: another scoring of this process has taken over the device: run again")
	}
	out := &Scored{}
	for rest := b.Queries; len(rest) > 0; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		group := rest[:min(r.together, len(rest))]
		rest = rest[len(group):]
		scored, err := r.scorer.Score(ctx, group, r.list)
		if errors.Is(err, ranking.ErrNotFinite) {
			return nil, err // it names the query
		}
		if err != nil {
			first, last := group[0], group[len(group)-1]
			return nil, fmt.Errorf("scoring (%d, %d, ?) to (%d, %d, ?): %w", first.Source, first.Relation, last.Source, last.Relation, err)
		}
		out.Queries, out.Messages = append(out.Queries, scored.Queries...), out.Messages+scored.Messages
		for _, q := range group {
			if done != nil {
				done(len(q.Rows))
			}
		}
	}
	return out, nil
}

func (r *deviceRanker) Close() error {
	scorer := r.scorer
	r.scorer = nil
	if scorer == nil {
		return nil
	}
	return scorer.Close()
}
