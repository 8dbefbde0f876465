package propagation

import (
	"runtime"

	"tagnet/model/internal/buffer"
	"tagnet/model/kernel"
	"tagnet/model/parallel"
)

// batchEmbeddings are the relation embeddings of a batch's queries, which Embed computes together.
type batchEmbeddings struct {
	relations map[int32][][]float32 // by query relation: the relation embeddings by layer, [2R, dim]
	unused    [][][]float32         // buffers for more of them

	distinct []int32   // query relations of the last Embed
	stacked  []float32 // their embeddings, [distinct, dim]
	workers  []embedWorker
}

type embedWorker struct {
	transposed []float32 // a block of a map, [dim, block]
	product    []float32 // [distinct, block]
}

// embedBlock is how many of a layer's 2R dim outputs are mapped at a time. A block stays in the
// first-level cache. It is no power of two: rows at such a distance would compete for cache lines.
const embedBlock = 224

// Embed computes the relation embeddings that queries for these relations will need. The map that
// yields them is large, and Embed reads it once for the batch instead of once a query. It must follow
// Load and not run beside a propagation. Without relation embeddings that depend on the query there
// is nothing to compute.
//
// Memory: 4 · queries · layers · 2R · dim bytes.
func (w *Weights) Embed(k kernel.Kernel, queries []int32) {
	b := &w.batch
	b.forget()
	if !w.configuration.Dependent {
		return
	}
	size := w.relations * w.configuration.Dim
	b.distinct, b.stacked = b.distinct[:0], b.stacked[:0]
	for _, relation := range queries {
		if _, ok := b.relations[relation]; ok || relation < 0 || int(relation) >= w.relations {
			continue // Forward returns an error for a relation out of range
		}
		b.relations[relation] = b.take(len(w.layers), size)
		b.distinct = append(b.distinct, relation)
		b.stacked = append(b.stacked, w.Query(relation)...)
	}
	blocks := (size + embedBlock - 1) / embedBlock
	tasks := len(w.layers) * blocks
	workers := min(runtime.GOMAXPROCS(0), tasks)
	b.workers = buffer.Extend(b.workers, workers)
	parallel.Workers(workers, tasks, func(worker, task int) {
		t, lo := task/blocks, task%blocks*embedBlock
		w.embedOutputs(k, &b.workers[worker], t, lo, min(lo+embedBlock, size))
	})
}

// embedOutputs computes outputs lo to hi of a layer's map for all distinct query relations.
func (w *Weights) embedOutputs(k kernel.Kernel, worker *embedWorker, t, lo, hi int) {
	layer, distinct, d, n := &w.layers[t], w.batch.distinct, w.configuration.Dim, hi-lo
	worker.transposed, worker.product = buffer.Resize(worker.transposed, n*d), buffer.Resize(worker.product, len(distinct)*n)
	k.Transpose(worker.transposed, layer.relationMap[lo*d:hi*d], n, d)
	copyRows(worker.product, layer.relationBias[lo:hi])
	k.Multiply(worker.product, w.batch.stacked, worker.transposed, len(distinct), d, n, true)
	for i, relation := range distinct {
		copy(w.batch.relations[relation][t][lo:hi], worker.product[i*n:])
	}
}

// relationEmbeddings returns a layer's relation embeddings for a query relation, [2R, dim]. Where they
// depend on the query and Embed has not computed them, it writes them to out: the same bits, but more
// slowly while training, when no transposed map is kept.
func (w *Weights) relationEmbeddings(k kernel.Kernel, t int, relation int32, out []float32) []float32 {
	layer, d := &w.layers[t], w.configuration.Dim
	if layer.relation != nil {
		return layer.relation
	}
	if embedded, ok := w.batch.relations[relation]; ok {
		return embedded[t]
	}
	copy(out, layer.relationBias)
	if w.training {
		k.Multiply(out, layer.relationMap, w.Query(relation), len(out), d, 1, true)
	} else {
		for i := 0; i < len(out); i += d { // in the order in which the map lies in memory
			k.Multiply(out[i:i+d], w.Query(relation), layer.relationTransposed[i*d:(i+d)*d], 1, d, d, true)
		}
	}
	return out
}

// forget discards the embeddings of the last Embed, whose weights Load replaces, and keeps their
// buffers.
func (b *batchEmbeddings) forget() {
	for relation, byLayer := range b.relations {
		b.unused = append(b.unused, byLayer)
		delete(b.relations, relation)
	}
	if b.relations == nil {
		b.relations = make(map[int32][][]float32)
	}
}

// take returns a buffer for one query's relation embeddings: size entries for each layer.
func (b *batchEmbeddings) take(layers, size int) [][]float32 {
	if last := len(b.unused) - 1; last >= 0 {
		byLayer := b.unused[last]
		b.unused = b.unused[:last]
		return byLayer
	}
	byLayer := make([][]float32, layers)
	for t := range byLayer {
		byLayer[t] = make([]float32, size)
	}
	return byLayer
}
