package main

import (
	"context"
	"fmt"
	"io"

	"tagnet/model/graph"
	"tagnet/model/propagation"
	"tagnet/model/search"
)

// compareRemovals prints for how many answers the score falls more without the facts of the first path than without as
// many random facts near the source: those with an end that is nearer to the source than the path is long, or a bit farther
// where these are too few.
func (t *trial) compareRemovals(ctx context.Context, out io.Writer) error {
	more, equal, answers, fell, fellAtRandom := 0, 0, 0, 0.0, 0.0
	searcher, distances := search.NewSearcher(t.view.Graph), make([]uint8, t.view.Graph.Entities)
	for i, q := range t.queries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(t.explained[i].Paths) == 0 {
			continue
		}
		first := t.explained[i].Paths[0]
		facts := t.facts(first)
		searcher.Search(q.Source, t.configuration.Layers, graph.Removal{}, distances)
		var near []graph.Fact
		for hops := len(first.Edges); len(near) < len(facts) && hops <= t.configuration.Layers; hops++ {
			near = t.near(distances, hops, facts)
		}
		if len(near) < len(facts) {
			continue
		}
		whole, err := t.score(ctx, t.view.Graph, q)
		if err != nil {
			return err
		}
		without, err := t.without(facts)
		if err != nil {
			return err
		}
		explained, err := t.score(ctx, without, q)
		if err != nil {
			return err
		}
		random := 0.0 // mean score over the draws
		for range t.draws {
			drawn := map[graph.Fact]bool{}
			for len(drawn) < len(facts) {
				drawn[near[t.random.IntN(len(near))]] = true
			}
			if without, err = t.without(drawn); err != nil {
				return err
			}
			score, err := t.score(ctx, without, q)
			if err != nil {
				return err
			}
			random += float64(score) / float64(t.draws)
		}
		answers++
		fell += float64(whole - explained)
		fellAtRandom += float64(whole) - random
		switch {
		case float64(explained) < random:
			more++
		case float64(explained) == random:
			equal++
		}
		if t.show {
			fmt.Fprintf(out, "%d %d %d: score %.3f, %.3f without the %d facts of the first path of weight %.3f, %.3f at random\n",
				q.Source, q.Relation, q.Answer, whole, explained, len(facts), first.Weight, random)
		}
	}
	if answers == 0 {
		return fmt.Errorf("--removal: no answer has a path and enough other facts near its source")
	}
	fmt.Fprintf(out, "removing the facts of the first path lowers the score more than removing as many random ones near the source (mean of %d draws) for %d of %d answers (%.1f%%), equally for %d\n",
		t.draws, more, answers, 100*float64(more)/float64(answers), equal)
	fmt.Fprintf(out, "on average the score falls by %.3f without the first path's facts, by %.3f without random ones\n", fell/float64(answers), fellAtRandom/float64(answers))
	return nil
}

// fact returns the fact that an edge comes from.
func (t *trial) fact(e propagation.Edge) graph.Fact {
	if int(e.Relation) < t.view.Graph.BaseRelations {
		return graph.Fact{Head: e.Sender, Relation: e.Relation, Tail: e.Receiver}
	}
	return graph.Fact{Head: e.Receiver, Relation: t.view.Graph.Inverse(e.Relation), Tail: e.Sender}
}

// near returns the facts with an end that is fewer hops from the source than some, except for those of a path.
func (t *trial) near(distances []uint8, hops int, path map[graph.Fact]bool) (facts []graph.Fact) {
	g := t.view.Graph
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if int(relations[i]) >= g.BaseRelations || int(min(distances[o], distances[u])) >= hops {
				continue
			}
			if f := (graph.Fact{Head: u, Relation: relations[i], Tail: o}); !path[f] {
				facts = append(facts, f)
			}
		}
	}
	return facts
}

// without returns the graph without some facts.
func (t *trial) without(removed map[graph.Fact]bool) (*graph.Graph, error) {
	g := t.view.Graph
	b := graph.NewBuilder(g.Entities, g.BaseRelations, g.Edges())
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if removed[t.fact(propagation.Edge{Sender: u, Relation: relations[i], Receiver: o})] {
				continue
			}
			if err := b.Add(u, relations[i], o); err != nil {
				return nil, err
			}
		}
	}
	return b.Graph()
}
