package evaluation

import "tagnet/model/graph"

// Popularity scores the answers of a query (source, relation, ?) by how many facts of the relation they answer,
// whatever the source. It may be used concurrently.
type Popularity struct{ answers [][]answers }

// answers is an entity with the number of edges of a relation that enter it.
type answers struct{ entity, edges int32 }

// NewPopularity counts the answers of a graph.
func NewPopularity(g *graph.Graph) *Popularity {
	p := &Popularity{make([][]answers, g.RelationCount())}
	for o := range int32(g.Entities) {
		_, relations := g.In(o)
		for _, r := range relations {
			list := p.answers[r]
			if n := len(list); n > 0 && list[n-1].entity == o {
				list[n-1].edges++
				continue
			}
			p.answers[r] = append(list, answers{o, 1})
		}
	}
	return p
}

// Scores sets the score of each entity as the answer of a query with a relation, which may be an inverse one.
func (p *Popularity) Scores(relation int32, scores []float32) {
	clear(scores)
	for _, a := range p.answers[relation] {
		scores[a.entity] = float32(a.edges)
	}
}
