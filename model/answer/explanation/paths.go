package explanation

import (
	"cmp"
	"context"
	"slices"

	"tagnet/model/engine/propagation"
)

// Path is a way from the source of a query to an answer, with one edge in each of the layers 1 to its length.
type Path struct {
	// Weight is the mean of the values of the path's edges.
	Weight float64
	Edges  []propagation.Edge
}

// stored is one of the best paths to an entity after some layers: the last edge, and the index of the path before it
// among the paths of the layer before.
type stored struct {
	sum          float64
	edge, before int32
}

// layerPaths holds the best paths to all entities after a layer.
type layerPaths struct {
	edges []propagation.Edge
	paths []stored // grouped by entity, best first
}

// finder finds best paths. Its buffers are reused.
type finder struct {
	relations int32 // base relations of the graph
	k         int   // paths that are kept to an entity after a layer
	walks     bool
	layers    []layerPaths // 0 has the empty path of the source
	// ranges are the paths of the last layer to each entity, by entity; none where their layer is another.
	ranges, next []pathRange
	alive        []uint16 // by entity: bit t is set if a path that is there after t layers can be continued to the answer
	one, other   []propagation.Edge
	group        []int32 // edges of a receiver
}

// leastKept is the least number of simple paths that are kept to an entity, so that the first ones hardly depend on how
// many are wanted.
const leastKept = 10

// pathRange is a range [first, last) of a layer's stored paths.
type pathRange struct{ layer, first, last int32 }

// newFinder returns a finder for a graph with numbers of entities and base relations.
//
// Memory: 16 bytes for each of k paths to each receiver of each layer, and 26 bytes an entity.
func newFinder(entities, relations int) *finder {
	return &finder{relations: int32(relations), ranges: make([]pathRange, entities), next: make([]pathRange, entities), alive: make([]uint16, entities)}
}

// best returns the k paths of highest weight from source to answer, best first; ties are ordered by length, then by the
// edges, compared as numbers (sender, relation, receiver). layers has the edges of layer t at t-1, sorted into groups
// by receiver and, within these, by sender. With walks the paths are exact, else simple and merged, as doc.go says.
// Time: of the order of edges · k.
func (f *finder) best(ctx context.Context, layers [][]propagation.Edge, source, answer int32, k int, walks bool) ([]Path, error) {
	if source == answer || k < 1 {
		return nil, nil
	}
	f.k, f.walks = k, walks
	if !walks {
		f.k = max(k, leastKept)
	}
	f.start(len(layers), source)
	f.findAlive(layers, answer)
	var found []Path
	for t, edges := range layers {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f.extend(t+1, edges, answer)
		if r := f.ranges[answer]; int(r.layer) == t+1 {
			for i := r.first; i < r.last; i++ {
				sum := f.layers[t+1].paths[i].sum
				found = append(found, Path{sum / float64(t+1), f.unroll(t+1, f.layers[t+1].paths[i], nil)})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Path) int { // within a length they are sorted
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(len(a.Edges), len(b.Edges)), compareEdges(a.Edges, b.Edges))
	})
	return found[:min(k, len(found))], nil
}

// start forgets the paths of another answer, and begins with the empty path of the source.
func (f *finder) start(layers int, source int32) {
	for len(f.layers) <= layers {
		f.layers = append(f.layers, layerPaths{})
	}
	for t := range f.layers {
		f.layers[t].paths = f.layers[t].paths[:0]
	}
	f.layers[0].paths = append(f.layers[0].paths, stored{})
	for o := range f.ranges {
		f.ranges[o].layer, f.next[o].layer = -1, -1
	}
	f.ranges[source] = pathRange{0, 0, 1}
	clear(f.alive)
}

// findAlive marks the entities from which the answer can still be reached.
func (f *finder) findAlive(layers [][]propagation.Edge, answer int32) {
	for t := len(layers); t >= 1; t-- {
		f.alive[answer] |= 1 << t
		for _, e := range layers[t-1] {
			if f.alive[e.Receiver]>>t&1 != 0 && e.Sender != answer {
				f.alive[e.Sender] |= 1 << (t - 1)
			}
		}
	}
}

// extend finds the best paths after layer t from those after the layer before.
func (f *finder) extend(t int, edges []propagation.Edge, answer int32) {
	layer := &f.layers[t]
	layer.edges = edges
	for first := 0; first < len(edges); {
		// The edges of a receiver, [first, last).
		last := first + 1
		for last < len(edges) && edges[last].Receiver == edges[first].Receiver {
			last++
		}
		receiver := edges[first].Receiver
		if f.alive[receiver]>>t&1 != 0 {
			begin := int32(len(layer.paths))
			f.group = f.group[:0]
			// A path continues from senders that the layer before reached, and ends at the answer.
			for e := first; e < last; e++ {
				if sender := edges[e].Sender; sender != answer && int(f.ranges[sender].layer) == t-1 {
					f.group = append(f.group, int32(e))
				}
			}
			if !f.walks {
				f.group = f.withoutInverses(edges, f.group)
			}
			for _, e := range f.group {
				f.offer(t, int(begin), e, f.ranges[edges[e].Sender])
			}
			if end := int32(len(layer.paths)); end > begin {
				f.next[receiver] = pathRange{int32(t), begin, end}
			}
		}
		first = last
	}
	// The paths found are the layer before's of the next call.
	f.ranges, f.next = f.next, f.ranges
}

// withoutInverses returns the edges of a receiver without the lower of two values, where one edge goes along a fact (u,
// r, v) and another one along (v, r, u).
func (f *finder) withoutInverses(edges []propagation.Edge, group []int32) []int32 {
	kept := group[:0]
	for _, e := range group {
		i := len(kept) - 1
		for i >= 0 && edges[kept[i]].Sender == edges[e].Sender && (edges[kept[i]].Relation-edges[e].Relation)%f.relations != 0 {
			i--
		}
		switch {
		case i < 0 || edges[kept[i]].Sender != edges[e].Sender:
			kept = append(kept, e)
		case cmp.Or(cmp.Compare(edges[kept[i]].Value, edges[e].Value), cmp.Compare(edges[e].Relation, edges[kept[i]].Relation)) < 0:
			kept[i] = e
		}
	}
	return kept
}

// offer inserts the paths to the sender of an edge, continued by the edge, into the sorted paths from begin on, of
// which it keeps k.
func (f *finder) offer(t, begin int, edge int32, senders pathRange) {
	layer := &f.layers[t]
	for i := senders.first; i < senders.last; i++ {
		path := stored{f.layers[t-1].paths[i].sum + layer.edges[edge].Value, edge, i}
		best := layer.paths[begin:]
		if len(best) == f.k {
			worst := best[len(best)-1]
			if path.sum < worst.sum {
				return // as are the sender's other paths
			}
			if f.compare(t, path, worst) > 0 {
				continue
			}
		}
		if !f.walks && f.returns(t, path) {
			continue
		}
		if len(best) == f.k {
			layer.paths = layer.paths[:len(layer.paths)-1]
			best = best[:len(best)-1]
		}
		at, _ := slices.BinarySearchFunc(best, path, func(a, b stored) int { return f.compare(t, a, b) })
		layer.paths = slices.Insert(layer.paths, begin+at, path)
	}
}

// returns reports whether the last edge of a path of t edges leads to an entity that the path has visited.
func (f *finder) returns(t int, path stored) bool {
	receiver := f.layers[t].edges[path.edge].Receiver
	for ; t > 0; t-- {
		if f.layers[t].edges[path.edge].Sender == receiver {
			return true
		}
		path = f.layers[t-1].paths[path.before]
	}
	return false
}

// compare orders two paths of t edges, the better one first.
func (f *finder) compare(t int, a, b stored) int {
	if a.sum != b.sum {
		return cmp.Compare(b.sum, a.sum)
	}
	f.one, f.other = f.unroll(t, a, f.one), f.unroll(t, b, f.other)
	return compareEdges(f.one, f.other)
}

// unroll returns the edges of a path of t edges, in a buffer that may have grown.
func (f *finder) unroll(t int, path stored, buffer []propagation.Edge) []propagation.Edge {
	buffer = slices.Grow(buffer[:0], t)[:t]
	for ; t > 0; t-- {
		buffer[t-1] = f.layers[t].edges[path.edge]
		path = f.layers[t-1].paths[path.before]
	}
	return buffer
}

func compareEdges(a, b []propagation.Edge) int {
	return slices.CompareFunc(a, b, func(x, y propagation.Edge) int {
		return cmp.Or(cmp.Compare(x.Sender, y.Sender), cmp.Compare(x.Relation, y.Relation), cmp.Compare(x.Receiver, y.Receiver))
	})
}
