package evaluate

import (
	"fmt"
	"runtime"
	"testing"

	"tagnet/stages/score"
)

// TestMemoryBoundsWhatIsWritten holds all that writing holds of many queries at a time, and
// compares it with the formula.
func TestMemoryBoundsWhatIsWritten(t *testing.T) {
	const queries = 4000
	for _, best := range []int{1, 10} {
		n := Names{Relations: []string{"likes"}}
		for i := range queries {
			n.Entities = append(n.Entities, fmt.Sprint("entity ", i))
		}
		before := live()
		made := &score.Scored{}
		for i := range queries {
			q := score.Question{Source: int32(i), Results: []score.Result{{Number: int64(i), Answer: int32(i)}}}
			for j := range best {
				q.Best = append(q.Best, score.Candidate{Entity: int32(j)})
			}
			made.Questions = append(made.Questions, q)
		}
		data, err := made.Encode()
		if err != nil {
			t.Fatal(err)
		}
		made = nil
		read, err := score.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		rankings, predictions := n.Rankings([]*score.Scored{read}), n.Predictions([]*score.Scored{read})
		held := live() - before
		if bound := Memory(queries, best); held > bound || bound > 3*held {
			t.Errorf("%d best: %d bytes are held, the formula says %d", best, held, bound)
		}
		runtime.KeepAlive(data)
		runtime.KeepAlive(read)
		runtime.KeepAlive(rankings)
		runtime.KeepAlive(predictions)
	}
}

func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
