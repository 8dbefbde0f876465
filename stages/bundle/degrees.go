package bundle

import (
	"context"
	"maps"
	"math"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
)

// Degrees reads the degrees of a graph that is not loaded, for the header: D, the mean over all entities of log(degree
// + 1), and each degree with the number of entities that have it.
func (p Params) Degrees(ctx context.Context) (meanLog float64, degrees [][2]int64, err error) {
	counts, sum, next := map[int64]int64{}, 0.0, int32(0)
	degree := int64(0) // of entity next
	until := func(entity int32) {
		for ; next < entity; next, degree = next+1, 0 {
			counts[degree]++
			sum += math.Log(float64(degree) + 1)
		}
	}
	for _, file := range p.Edges {
		err := tables.EachEdges(ctx, storage.Join(p.Graph, file), func(e tables.Edges) error {
			for _, tail := range e.Tails {
				until(tail)
				degree++
			}
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
	}
	until(int32(p.Header.Entities))
	for _, degree := range slices.Sorted(maps.Keys(counts)) {
		degrees = append(degrees, [2]int64{degree, counts[degree]})
	}
	return sum / float64(p.Header.Entities), degrees, nil
}
