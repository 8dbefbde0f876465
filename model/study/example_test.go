package study_test

import (
	"fmt"

	"tagnet/model/graph"
	"tagnet/model/study"
)

// ExampleCorrector follows the package documentation: a training query of source a removes a-c.
func ExampleCorrector() {
	g, err := graph.New(8, 1, []graph.Fact{
		{Head: 0, Tail: 1}, // a-b
		{Head: 0, Tail: 2},
		{Head: 1, Tail: 2},
		{Head: 1, Tail: 3},
		{Head: 1, Tail: 4},
		{Head: 2, Tail: 5},
		{Head: 5, Tail: 6},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const hops = 3
	distances := make([]uint8, g.Entities)
	graph.NewSearcher(g).Search(0, hops, graph.Query{}, distances)
	whole := study.CountLevels(g, distances, hops)
	c := study.NewCorrector(g)
	c.Reset(0, distances, hops, whole)
	without := c.Without(graph.Query{Source: 0, Relation: 0, Answer: 2, Removal: graph.RemoveFact})
	for _, l := range []study.Levels{whole, without} {
		fmt.Println("edges", l.Edges, "between", l.Between[1:hops+1], "within", l.Within[:hops+1])
	}
	// Output:
	// edges 14 between [2 3 1] within [0 2 0 0]
	// edges 12 between [1 3 1] within [0 0 0 0]
}
