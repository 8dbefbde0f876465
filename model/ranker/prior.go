package ranker

import (
	"tagnet/model/graph"
	"tagnet/model/prior"
)

// priors are what a thread of a ranker does with the prior of its model. The zero value does nothing.
type priors struct {
	added   *prior.Added
	tries   []prior.Weight
	changed []float32 // scores with a weight that is tried
}

func newPriors(g *graph.Graph, p *prior.Prior, tries []prior.Weight) priors {
	if p == nil {
		return priors{}
	}
	return priors{added: p.Of(g), tries: tries}
}

// apply adds the prior to the scores of a query. If its weight is still to be chosen, it leaves them, and returns what Ranked.Tried has.
func (p *priors) apply(q Query, scores []float32) (tried [][]int64) {
	if p.added != nil && len(p.tries) == 0 {
		p.added.Add(q.Relation, q.Removal, scores)
	}
	for _, weight := range p.tries {
		p.changed = append(p.changed[:0], scores...)
		p.added.AddWeighted(weight, q.Relation, q.Removal, p.changed)
		ranks := []int64{}
		for _, answer := range q.Answers {
			if answer != None {
				ranks = append(ranks, rankOf(q, answer, p.changed).Pessimistic)
			}
		}
		tried = append(tried, ranks)
	}
	return tried
}
