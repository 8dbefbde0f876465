package gpu

import (
	"slices"

	"tagnet/model/weights/configuration"
)

// placeDegrees puts the entities by degree on the device. For reductions without scalers all have one degree.
func (e *engine) placeDegrees() {
	b, m, v := &e.batch, &e.memory, e.graph.Entities
	degrees, highest := make([]int32, v), 0
	if e.configuration.Aggregate == configuration.AggregatePNA {
		highest = e.graph.HighestDegree()
		for o := range degrees {
			degrees[o] = int32(e.graph.Degree(int32(o)))
		}
	}
	all := begins(degrees, highest+1)
	entities, next := make([]int32, v), slices.Clone(all)
	for o, degree := range degrees {
		entities[next[degree]] = int32(o)
		next[degree]++
	}
	of, begin := make([]int32, v), []int32{} // of the degrees that occur
	for degree, from := range all[:highest+1] {
		if to := all[degree+1]; from < to {
			for i := from; i < to; i++ {
				of[i] = int32(len(begin))
			}
			begin = append(begin, from)
		}
	}
	b.Degrees = int32(len(begin))
	b.ByDegree, b.DegreeOf, b.DegreeBegin = place(m, entities), place(m, of), place(m, append(begin, int32(v)))
}

// strips returns the most strips that a layer has for a number of queries: full ones, one for the rest of each degree,
// and one for each end that may have a degree of its own.
func (e *engine) strips(queries int) int {
	return blocks(queries*e.graph.Entities, stripRows) + int(e.batch.Degrees) + e.ends(queries)
}

// spans returns the most spans of these strips.
func (e *engine) spans(queries int) int {
	return min(maxSpans, blocks(queries*e.graph.Entities, stripRows)) + int(e.batch.Degrees) + e.ends(queries)
}

// ends returns the number of rows of a layer whose degree may differ from the entity's in the whole graph, 0 for
// reductions without scalers.
func (e *engine) ends(queries int) int {
	if e.configuration.Aggregate == configuration.AggregatePNA {
		return 2 * queries
	}
	return 0
}
