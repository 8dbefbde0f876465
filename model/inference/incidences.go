package inference

import (
	"sync"

	"tagnet/model/graph"
	"tagnet/model/incidence"
	"tagnet/model/internal/stack"
	"tagnet/model/parameters"
)

// incidences compute what states of incidences add to the first layer of the score function, once for queries of a group of relations.
type incidences struct {
	scorer *Scorer
	list   *incidence.Incidences
	layer  stack.Layer

	mutex   sync.Mutex
	groups  map[int32]*added // the newest of them
	ordered []int32
}

// mostAdded is how many groups of relations are kept.
const mostAdded = 4

// added is what the state of incidences of each entity adds, [V, 2 dim].
type added struct {
	rows []float32
	// At the ends of a removed edge: it adds other rows, [2, 2 dim].
	removal graph.Removal
	ends    []float32
}

// row returns that of an entity.
func (a *added) row(o int32, width int) []float32 {
	switch {
	case a.removal.Active && o == a.removal.Source:
		return a.ends[:width]
	case a.removal.Active && o == a.removal.Answer:
		return a.ends[width:]
	}
	return stack.Row(a.rows, width, o)
}

func newIncidences(s *Scorer, p *parameters.Set[float32]) *incidences {
	return &incidences{scorer: s, list: incidence.Of(s.graph), layer: stack.NewLayer(s.kernel, p, incidence.Name), groups: map[int32]*added{}}
}

// of returns what a query's entities add.
func (i *incidences) of(relation int32, removal graph.Removal) *added {
	whole := i.ofGroup(relation)
	if !removal.Active {
		return whole
	}
	return &added{whole.rows, removal, i.compute(relation, removal, []int32{removal.Source, removal.Answer})}
}

// ofGroup returns that of the whole graph.
func (i *incidences) ofGroup(relation int32) *added {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	group := i.scorer.Group(relation)
	if i.groups[group] == nil {
		if len(i.ordered) == mostAdded {
			delete(i.groups, i.ordered[0])
			i.ordered = i.ordered[1:]
		}
		all := make([]int32, i.scorer.graph.Entities)
		for o := range all {
			all[o] = int32(o)
		}
		i.groups[group] = &added{rows: i.compute(relation, graph.Removal{}, all)}
		i.ordered = append(i.ordered, group)
	}
	return i.groups[group]
}

// compute returns what entities add, [n, 2 dim], block by block.
func (i *incidences) compute(relation int32, removal graph.Removal, entities []int32) []float32 {
	const block = 512 // of rows whose buffers stay in the cache
	s, d := i.scorer, i.scorer.configuration.Dim
	w, rows, states := incidence.NewWorker(s.kernel, i.list, d), s.weights.Relations.Incidences(relation), make([]float32, block*d)
	to := make([]float32, len(entities)*2*d)
	for from := 0; from < len(entities); from += block {
		n := min(block, len(entities)-from)
		w.Forward(&i.layer, rows, removal, entities[from:from+n], states[:n*d])
		s.kernel.Multiply(to[from*2*d:(from+n)*2*d], states, s.score.incidence, n, d, 2*d, false)
	}
	return to
}
