package rules_test

import (
	"context"
	"fmt"

	"tagnet/model/answer/rules"
	"tagnet/model/graph"
)

// Parents and grandparents: 0 is the parent of 1 and 2, these of 3 to 6, and so on. The graph states most grandparents.
func Example() {
	const parent, grandparent = 0, 1
	var facts []graph.Fact
	for child := int32(1); child < 31; child++ {
		facts = append(facts, graph.Fact{Head: (child - 1) / 2, Relation: parent, Tail: child})
		if child >= 3 && child < 29 {
			facts = append(facts, graph.Fact{Head: (child - 3) / 4, Relation: grandparent, Tail: child})
		}
	}
	g, err := graph.New(31, 2, facts)
	if err != nil {
		panic(err)
	}
	r, err := rules.Mine(context.Background(), g, 2, nil)
	if err != nil {
		panic(err)
	}
	for _, reason := range r.Reasons(g, graph.Fact{Head: 6, Relation: grandparent, Tail: 29}, 1) {
		fmt.Printf("%v: so in %d of %d cases; here %v\n", reason.Body, reason.Support, reason.Cases, reason.Path)
	}
	// Output:
	// [0 0]: so in 26 of 28 cases; here [6 14 29]
}
