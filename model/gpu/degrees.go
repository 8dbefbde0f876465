package gpu

import (
	"cmp"
	"slices"

	"tagnet/model/configuration"
)

// placeDegrees puts the entities by degree on the device. For reductions without scalers all have one degree.
func (e *engine) placeDegrees() {
	b, m, degree := &e.batch, &e.memory, func(o int32) int { return e.graph.Degree(o) }
	if e.configuration.Aggregate != configuration.AggregatePNA {
		degree = func(int32) int { return 0 }
	}
	entities := make([]int32, e.graph.Entities)
	for o := range entities {
		entities[o] = int32(o)
	}
	slices.SortStableFunc(entities, func(o, p int32) int { return cmp.Compare(degree(o), degree(p)) })
	of, begin := make([]int32, len(entities)), []int32{}
	for place, o := range entities {
		if place == 0 || degree(o) != degree(entities[place-1]) {
			begin = append(begin, int32(place))
		}
		of[place] = int32(len(begin) - 1)
	}
	b.Degrees = int32(len(begin))
	b.ByDegree, b.DegreeOf, b.DegreeBegin = place(m, entities), place(m, of), place(m, append(begin, int32(len(entities))))
}

// strips returns the most strips that a layer has for a number of queries: those that rows fill, one for the rest of each degree, and one for
// each end that may have a degree of its own.
func (e *engine) strips(queries int) int {
	return blocks(queries*e.graph.Entities, stripRows) + int(e.batch.Degrees) + e.ends(queries)
}

// spans returns the most spans of these strips.
func (e *engine) spans(queries int) int {
	return min(maxSpans, blocks(queries*e.graph.Entities, stripRows)) + int(e.batch.Degrees) + e.ends(queries)
}

// ends returns the number of rows of a layer that may have another degree than their entity has in the whole graph, where that matters.
func (e *engine) ends(queries int) int {
	if e.configuration.Aggregate == configuration.AggregatePNA {
		return 2 * queries
	}
	return 0
}
