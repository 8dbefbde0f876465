package encode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/workspace/counts"
)

// TestDegreesOfTables divides the entities of graphs among tables, and compares with the sorted
// degrees of all entities.
func TestDegreesOfTables(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for entities := 1; entities < 40; entities++ {
		tables := make([]Degrees, 3)
		var want counts.Degrees
		var all []int64
		for range entities {
			in, out := random.Int64N(4), random.Int64N(1+random.Int64N(9))
			tables[random.IntN(3)].add(in, out)
			all = append(all, in+out)
			want.MostIn, want.MostOut = max(want.MostIn, in), max(want.MostOut, out)
		}
		slices.Sort(all)
		want.Median = all[(entities-1)/2]
		var sum Degrees
		for _, table := range tables {
			sum.merge(table)
		}
		if got := sum.summary(int64(entities)); got != want {
			t.Errorf("%d entities with %v facts: %+v, want %+v", entities, all, got, want)
		}
	}
}
