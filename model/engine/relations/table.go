package relations

import (
	"runtime"

	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
	"tagnet/model/weights/parameters"
)

// table is the relation source whose tables are parameters.
type table struct {
	embeddings
	layers [][]float32 // [2R, dim]
}

// Load reads the parameters.
func (s *table) Load(k kernel.Kernel, p *parameters.Set[float32]) {
	s.load(k, p)
	for t := range s.layers {
		s.layers[t] = p.Layer(t+1, "relation.weight")
	}
}

func (s *table) Prepare([]int32) {}

// Tables returns the tables by layer, which are the same for every query.
func (s *table) Tables(int32, *Buffers) [][]float32 { return s.layers }

// Backward sets the tables' gradients to the sum over the batch, in its order, one block of a table a thread.
func (s *table) Backward(queries []int32, batch []Gradient, into *parameters.Set[float32]) {
	s.sum(queries, batch, into)
	blocks := (s.size() + sumBlock - 1) / sumBlock
	parallel.Workers(runtime.GOMAXPROCS(0), len(s.layers)*blocks, func(_, task int) {
		t, lo := task/blocks, task%blocks*sumBlock
		sum := into.Layer(t+1, "relation.weight")[lo:min(lo+sumBlock, s.size())]
		clear(sum)
		for _, query := range batch {
			s.kernel.Add(sum, query.Tables[t][lo:lo+len(sum)])
		}
	})
}
