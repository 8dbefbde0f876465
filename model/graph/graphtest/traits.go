// Package graphtest makes graphs for tests.
package graphtest

import (
	"fmt"

	"tagnet/model/graph/kg"
)

// Missing are shares that tests presume of relations of Traits, beside Others of all others: many facts are likely.
var Missing = map[string]float64{"knows": .5, "has": 12, "owns": 20}

// Others is the share of the facts of other relations.
const Others = 1

// Traits returns facts of 40 people. 30 of them live in one city each (one tail) and own one house each (one tail and
// one head), and cities have these houses (one head). Relatives are stated both ways, but for some.
func Traits() (facts []kg.Triple) {
	add := func(kind string, i int, relation, other string, j int) {
		facts = append(facts, kg.Triple{Head: fmt.Sprintf("%s %02d", kind, i), Relation: relation, Tail: fmt.Sprintf("%s %02d", other, j)})
	}
	for i := range 40 {
		add("person", i, "knows", "person", (i*i+7)%40)
		add("person", i, "knows", "person", (i*3+1)%40)
		if i%4 == 3 {
			continue
		}
		add("person", i, "lives_in", "city", i%5)
		add("city", i%5, "has", "house", i)
		add("person", i, "owns", "house", i)
		if other := (i + 4) % 40; i%8 < 3 {
			add("person", i, "relative_of", "person", other)
			if i%16 != 8 {
				add("person", other, "relative_of", "person", i)
			}
		}
	}
	for i := range 10 { // houses that nobody owns
		add("house", 4*i+3, "beside", "house", 4*i)
	}
	return facts
}
