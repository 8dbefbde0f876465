package relations

import (
	"runtime"

	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
	"tagnet/model/weights/parameters"
)

// linear is the relation source whose tables are a linear map of the embedding of the query's relation. The map is
// large: Prepare reads it once for a batch instead of once a query.
//
// Memory: 4 · queries · layers · 2R · dim bytes for a batch.
type linear struct {
	embeddings
	layers []relationMap

	prepared map[int32][][]float32 // by query relation: the tables by layer, [2R, dim]
	unused   [][][]float32         // buffers for more of them
	distinct []int32               // query relations of the last Prepare
	stacked  []float32             // their embeddings, [distinct, dim]
	workers  []linearWorker

	// Of Backward: the embeddings of the queries, [batch, dim], and the gradients of these through each block of each
	// layer's map, [layers, blocks, batch, dim].
	queries, gradients []float32
}

// relationMap is the linear map of a layer.
type relationMap struct {
	weight     []float32 // [2R dim, dim]
	bias       []float32 // [2R dim]
	transposed []float32 // each relation's rows of weight transposed, [2R, dim, dim]; not for training, see Prepare
}

// linearWorker holds the buffers of a thread.
type linearWorker struct {
	transposed []float32 // a block of a map, [dim, block]
	product    []float32 // of Prepare, [distinct, block]
	stacked    []float32 // of Backward: a block of the queries' gradients of a table, [batch, block]
}

// embedBlock is how many of a layer's 2R dim outputs are mapped at a time. A block stays in the
// first-level cache. It is no power of two: rows at such a distance would compete for cache lines.
const embedBlock = 224

// sumBlock is how many of a layer's 2R dim gradients are summed and mapped at a time. Like
// embedBlock it fits a cache and is no power of two.
const sumBlock = 1008

// Load reads the parameters. Inference also needs each map's blocks transposed; training does that once a batch.
func (s *linear) Load(k kernel.Kernel, p *parameters.Set[float32]) {
	s.load(k, p)
	s.forget()
	parallel.Workers(runtime.GOMAXPROCS(0), len(s.layers), func(_, t int) {
		layer, d := &s.layers[t], s.dim
		layer.weight, layer.bias = p.Layer(t+1, "relation_linear.weight"), p.Layer(t+1, "relation_linear.bias")
		if s.training {
			return
		}
		layer.transposed = parallel.Resize(layer.transposed, len(layer.weight))
		for i := 0; i < len(layer.weight); i += d * d {
			k.Transpose(layer.transposed[i:i+d*d], layer.weight[i:i+d*d], d, d)
		}
	})
}

// Prepare computes the tables of all distinct relations of a batch, block by block: a block of a map serves them all.
func (s *linear) Prepare(queries []int32) {
	s.forget()
	size := s.size()
	s.distinct, s.stacked = s.distinct[:0], s.stacked[:0]
	for _, relation := range queries {
		if _, ok := s.prepared[relation]; ok || relation < 0 || int(relation) >= s.relations {
			continue
		}
		s.prepared[relation] = s.take()
		s.distinct = append(s.distinct, relation)
		s.stacked = append(s.stacked, s.Query(relation)...)
	}
	blocks := (size + embedBlock - 1) / embedBlock
	s.each(len(s.layers)*blocks, func(worker *linearWorker, task int) {
		t, lo := task/blocks, task%blocks*embedBlock
		s.prepare(worker, t, lo, min(lo+embedBlock, size))
	})
}

// each runs tasks on workers with buffers of their own.
func (s *linear) each(tasks int, work func(worker *linearWorker, task int)) {
	workers := min(runtime.GOMAXPROCS(0), tasks)
	s.workers = parallel.Extend(s.workers, workers)
	parallel.Workers(workers, tasks, func(worker, task int) { work(&s.workers[worker], task) })
}

// prepare computes outputs lo to hi of a layer's map for all distinct query relations.
func (s *linear) prepare(worker *linearWorker, t, lo, hi int) {
	layer, d, n := &s.layers[t], s.dim, hi-lo
	worker.transposed, worker.product = parallel.Resize(worker.transposed, n*d), parallel.Resize(worker.product, len(s.distinct)*n)
	s.kernel.Transpose(worker.transposed, layer.weight[lo*d:hi*d], n, d)
	for i := range s.distinct {
		copy(worker.product[i*n:], layer.bias[lo:hi])
	}
	s.kernel.Multiply(worker.product, s.stacked, worker.transposed, kernel.Product{Rows: len(s.distinct), Inner: d, Columns: n, Add: true})
	for i, relation := range s.distinct {
		copy(s.prepared[relation][t][lo:hi], worker.product[i*n:])
	}
}

// Tables returns the tables by layer. What is not prepared is computed in b.
func (s *linear) Tables(relation int32, b *Buffers) [][]float32 {
	b.tables, b.computed = parallel.Extend(b.tables, len(s.layers)), parallel.Extend(b.computed, len(s.layers))
	for t := range s.layers {
		b.tables[t] = s.table(t, relation, &b.computed[t])
	}
	return b.tables
}

// table returns a layer's table for a query relation. If Prepare has not computed it, it is computed into a buffer,
// with the same bits, but more slowly while training, without a transposed map.
func (s *linear) table(t int, relation int32, buffer *[]float32) []float32 {
	if prepared, ok := s.prepared[relation]; ok {
		return prepared[t]
	}
	layer, d := &s.layers[t], s.dim
	out := parallel.Resize(*buffer, len(layer.bias))
	*buffer = out
	copy(out, layer.bias)
	if s.training {
		s.kernel.Multiply(out, layer.weight, s.Query(relation), kernel.Product{Rows: len(out), Inner: d, Columns: 1, Add: true})
		return out
	}
	for i := 0; i < len(out); i += d { // in the order in which the map lies in memory
		s.kernel.Multiply(out[i:i+d], s.Query(relation), layer.transposed[i*d:(i+d)*d], kernel.Product{Rows: 1, Inner: d, Columns: d, Add: true})
	}
	return out
}

// forget discards the tables of the last Prepare and keeps their buffers.
func (s *linear) forget() {
	for relation, byLayer := range s.prepared {
		s.unused = append(s.unused, byLayer)
		delete(s.prepared, relation)
	}
	if s.prepared == nil {
		s.prepared = make(map[int32][][]float32)
	}
}

// take returns buffers for one query's tables.
func (s *linear) take() [][]float32 {
	if last := len(s.unused) - 1; last >= 0 {
		byLayer := s.unused[last]
		s.unused = s.unused[:last]
		return byLayer
	}
	byLayer := make([][]float32, len(s.layers))
	for t := range byLayer {
		byLayer[t] = make([]float32, s.size())
	}
	return byLayer
}

// Backward sets the gradients of embeddings and maps, given a batch's, summed in a fixed order.
func (s *linear) Backward(queries []int32, batch []Gradient, into *parameters.Set[float32]) {
	s.sum(queries, batch, into)
	s.queries = s.queries[:0]
	for _, relation := range queries {
		s.queries = append(s.queries, s.Query(relation)...)
	}
	size, perBlock := s.size(), len(batch)*s.dim
	blocks := (size + sumBlock - 1) / sumBlock
	s.gradients = parallel.Resize(s.gradients, len(s.layers)*blocks*perBlock)
	s.each(len(s.layers)*blocks, func(worker *linearWorker, task int) {
		lo := task % blocks * sumBlock
		s.sumTable(worker, tableRange{task / blocks, lo, min(lo+sumBlock, size)}, batch, into, s.gradients[task*perBlock:][:perBlock])
	})
	total, query := s.gradients[:perBlock], into.Data("query.weight")
	for rest := s.gradients[perBlock:]; len(rest) > 0; rest = rest[perBlock:] { // in the order of layers and blocks
		s.kernel.Add(total, rest[:perBlock])
	}
	for i, relation := range queries {
		s.kernel.Add(row(query, s.dim, relation), row(total, s.dim, int32(i)))
	}
}

// tableRange has the entries lo to hi of a layer's table.
type tableRange struct{ layer, lo, hi int }

// sumTable sums the gradients of the map that yields some entries of a table, and sets gradients, [batch, dim], to the
// gradients of the queries' embeddings through these outputs of the map. Each is one matrix product for the batch,
// which adds the queries in order.
func (s *linear) sumTable(worker *linearWorker, x tableRange, batch []Gradient, into *parameters.Set[float32], gradients []float32) {
	t, lo, hi := x.layer, x.lo, x.hi
	d, n := s.dim, hi-lo
	weight, bias := into.Layer(t+1, "relation_linear.weight"), into.Layer(t+1, "relation_linear.bias")
	worker.stacked = parallel.Resize(worker.stacked, len(batch)*n)
	clear(bias[lo:hi])
	for i, query := range batch {
		s.kernel.Add(bias[lo:hi], query.Tables[t][lo:hi])
		copy(worker.stacked[i*n:(i+1)*n], query.Tables[t][lo:hi])
	}
	s.kernel.MultiplyTransposed(weight[lo*d:hi*d], worker.stacked, s.queries, kernel.Product{Rows: len(batch), Inner: n, Columns: d})
	s.kernel.Multiply(gradients, worker.stacked, s.layers[t].weight[lo*d:hi*d], kernel.Product{Rows: len(batch), Inner: n, Columns: d})
}
