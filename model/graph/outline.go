package graph

// outline has the numbers of a graph whose edges are not held.
type outline struct {
	edges   int64
	degrees [][2]int64
}

// Outline returns a graph of some size whose edges are not held: queries propagate through parts of it that are
// found elsewhere. degrees has the degrees of its entities, each with the number of entities that have it, or nil
// if no model needs them.
func Outline(entities, baseRelations int, edges int64, meanLogDegree float64, degrees [][2]int64) *Graph {
	return &Graph{Entities: entities, BaseRelations: baseRelations, MeanLogDegree: meanLogDegree, outline: &outline{edges, degrees}}
}

// IsOutline reports whether the edges are not held.
func (g *Graph) IsOutline() bool { return g.outline != nil }

// DegreeCounts returns the number of entities by degree.
func (g *Graph) DegreeCounts() []int {
	var counts []int
	add := func(degree, count int) {
		for len(counts) <= degree {
			counts = append(counts, 0)
		}
		counts[degree] += count
	}
	if g.outline != nil {
		for _, d := range g.outline.degrees {
			add(int(d[0]), int(d[1]))
		}
		return counts
	}
	for o := range int32(g.Entities) {
		add(g.Degree(o), 1)
	}
	return counts
}
