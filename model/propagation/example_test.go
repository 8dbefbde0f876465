package propagation_test

import (
	"fmt"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/propagation"
)

// Example counts the messages of the package documentation's example.
func Example() {
	g, err := graph.New(8, 2, []graph.Fact{
		{Head: 0, Relation: 0, Tail: 1}, // a-r-b
		{Head: 0, Relation: 0, Tail: 2},
		{Head: 1, Relation: 1, Tail: 2},
		{Head: 1, Relation: 0, Tail: 3},
		{Head: 1, Relation: 0, Tail: 4},
		{Head: 2, Relation: 0, Tail: 5},
		{Head: 5, Relation: 0, Tail: 6},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	k := kernel.Available()[0]
	for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull} {
		c := configuration.Default()
		c.Layers, c.Delta, c.Policy = 2, 2, policy
		weights := propagation.NewWeights(g, c, false)
		if err := weights.Load(k, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)); err != nil {
			fmt.Println(err)
			return
		}
		p := propagation.New(g, c, k)
		var phases propagation.Phases
		p.Measure(&phases)
		if err := p.Forward(weights, propagation.Query{Source: 0, Relation: 0}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d messages, %d updates, %d copied\n", policy, p.Sent(), p.Updated(), phases.Copied)
	}
	// Output:
	// window: 11 messages, 9 updates, 1 copied
	// full: 28 messages, 16 updates, 0 copied
}
