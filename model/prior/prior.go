package prior

import (
	"sync"

	"tagnet/model/graph"
	"tagnet/model/incidence"
)

// Weight is how much of a prior a score gets: Beta x min(NB, Cap).
type Weight struct{ Beta, Cap float32 }

// of returns what a score gets. The conversion keeps the product from being fused with a sum, which would round differently on some
// processors.
func (w Weight) of(value float32) float32 { return float32(w.Beta * min(value, w.Cap)) }

// Weights are those that a training chooses from, the smallest first; the first is none.
func Weights() []Weight {
	list := []Weight{{0, 6}}
	for _, beta := range []float32{.01, .02, .05, .1, .15, .2, .3} {
		for _, limit := range []float32{2, 3, 6, 12} {
			list = append(list, Weight{beta, limit})
		}
	}
	return list
}

// Prior is the prior of a checkpoint. It is not changed once it is made, and may be used concurrently.
type Prior struct {
	Counts
	Weight
	// Without is the validation MRR (pessimistic ranks) of the model by itself, With that with the prior.
	Without, With float64
	// Checksum is that of the file that the prior was read from.
	Checksum string
}

// Sum returns the checksum, or "" without a prior.
func (p *Prior) Sum() string {
	if p == nil {
		return ""
	}
	return p.Checksum
}

// Added are the values of a prior for the entities of a graph. It may be used concurrently.
type Added struct {
	prior *Prior
	graph *graph.Graph
	list  *incidence.Incidences

	mutex  sync.Mutex
	values map[int32][]float32 // NB of all entities by relation, of the newest ones
	newest []int32
}

// MostBytes bounds the values that are kept, unless those of one relation are more.
const MostBytes = 32 << 20

// Of returns what a prior adds on a graph.
func (p *Prior) Of(g *graph.Graph) *Added {
	return &Added{prior: p, graph: g, list: incidence.Of(g), values: map[int32][]float32{}}
}

// Add adds to the scores of all entities, [V], as the answers of a query with a relation, in the graph without the edges of a removal.
func (a *Added) Add(relation int32, removal graph.Removal, scores []float32) {
	a.AddWeighted(a.prior.Weight, relation, removal, scores)
}

// AddWeighted is Add with another weight.
func (a *Added) AddWeighted(w Weight, relation int32, removal graph.Removal, scores []float32) {
	if w.Beta == 0 {
		return
	}
	ends := [2]int32{removal.Source, removal.Answer}
	kept := [2]float32{scores[ends[0]], scores[ends[1]]}
	for o, value := range a.ofRelation(relation) {
		scores[o] += w.of(value)
	}
	if removal.Active {
		for i, end := range ends {
			scores[end] = kept[i] + w.of(a.value(relation, a.list.Without(nil, end, removal)))
		}
	}
}

// Share returns what the score of an entity gets in the whole graph.
func (a *Added) Share(relation, entity int32) float32 {
	return a.prior.of(a.value(relation, a.list.Of(entity)))
}

// value returns NB of an entity that has these relations.
func (a *Added) value(relation int32, own []int32) float32 {
	n := a.graph.RelationCount()
	row, sum := a.prior.Lambda[int(relation)*n:], float64(a.prior.Constant[relation])
	for _, r := range own {
		sum += float64(row[r])
	}
	return float32(sum)
}

// ofRelation returns NB of all entities in the whole graph.
func (a *Added) ofRelation(relation int32) []float32 {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.values[relation] == nil {
		if len(a.newest) > 0 && (len(a.newest)+1)*4*a.graph.Entities > MostBytes {
			delete(a.values, a.newest[0])
			a.newest = a.newest[1:]
		}
		values := make([]float32, a.graph.Entities)
		for o := range values {
			values[o] = a.value(relation, a.list.Of(int32(o)))
		}
		a.values[relation] = values
		a.newest = append(a.newest, relation)
	}
	return a.values[relation]
}
