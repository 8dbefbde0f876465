package parallel

import "testing"

func TestSeedTellsOrderApart(t *testing.T) {
	seen := map[uint64][]uint64{}
	for a := range uint64(20) {
		for b := range uint64(20) {
			for c := range uint64(20) {
				s := Seed(a, b, c)
				if earlier, ok := seen[s]; ok {
					t.Fatalf("seed of %d %d %d is that of %v", a, b, c, earlier)
				}
				seen[s] = []uint64{a, b, c}
			}
		}
	}
}
