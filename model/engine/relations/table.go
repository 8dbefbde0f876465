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
	both   Buffers     // for two queries, every row repeated; not for training
}

// Load reads the parameters. Without training, it also repeats each row for two queries, whatever their relations.
func (s *table) Load(k kernel.Kernel, p *parameters.Set[float32]) {
	s.load(k, p)
	s.both.resize(len(s.layers))
	for t := range s.layers {
		s.layers[t] = p.Layer(t+1, "relation.weight")
		if !s.training {
			s.both.interleave(t, s.layers[t], 0, s.dim)
			s.both.interleave(t, s.layers[t], 1, s.dim)
		}
	}
}

func (s *table) Prepare([]int32) {}

// Tables returns the tables by layer, which are the same for every query, interleaved for two.
func (s *table) Tables(queries []int32, b *Buffers) [][]float32 {
	switch {
	case len(queries) == 1:
		return s.layers
	case !s.training:
		return s.both.both
	}
	b.resize(len(s.layers))
	for t, table := range s.layers {
		b.interleave(t, table, 0, s.dim)
		b.interleave(t, table, 1, s.dim)
	}
	return b.both
}

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
