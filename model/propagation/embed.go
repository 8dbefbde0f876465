package propagation

import "tagnet/model/kernel"

// embedding is what Embed keeps from batch to batch.
type embedding struct {
	distinct []int32
	stacked  []float32 // the queries' embeddings, [distinct, dim]
	threads  []embeddingThread
}

type embeddingThread struct {
	turned  []float32 // a part of a map, transposed, [dim, part]
	product []float32 // [distinct, part]
}

// embedPart is how many of a layer's 2R dim outputs are mapped at a time: few enough that
// all of it stays in the nearest caches, and no power of two, whose rows would share their
// places there.
const embedPart = 224

// Embed computes the relation embeddings that queries for these relations will need, all at
// once: the map that makes them is large, and is read once for the batch instead of once a
// query. It must follow Load and not run beside a propagation. Nothing is to do where
// embeddings do not depend on the query.
//
// Memory: 4 · queries · layers · 2R · dim bytes.
func (w *Weights) Embed(k kernel.Kernel, queries []int32) {
	w.forget()
	if !w.configuration.Dependent {
		return
	}
	e, d, size := &w.embedding, w.configuration.Dim, w.relations*w.configuration.Dim
	e.distinct, e.stacked = e.distinct[:0], e.stacked[:0]
	for _, relation := range queries {
		if _, ok := w.embedded[relation]; ok || relation < 0 || int(relation) >= w.relations {
			continue // Forward refuses a relation that is not one
		}
		w.embedded[relation] = w.buffers()
		e.distinct = append(e.distinct, relation)
		e.stacked = append(e.stacked, w.Query(relation)...)
	}
	parts := (size + embedPart - 1) / embedPart
	threads := threads(len(w.layers) * parts)
	e.threads = extend(e.threads, threads)
	each(threads, len(w.layers)*parts, func(thread, task int) {
		t, lo := task/parts, task%parts*embedPart
		w.embedOutputs(k, &e.threads[thread], t, lo, min(lo+embedPart, size), d)
	})
}

// embedOutputs computes outputs lo to hi of a layer's map for all distinct queries.
func (w *Weights) embedOutputs(k kernel.Kernel, thread *embeddingThread, t, lo, hi, d int) {
	layer, distinct, n := &w.layers[t], w.embedding.distinct, hi-lo
	thread.turned, thread.product = grow(thread.turned, n*d), grow(thread.product, len(distinct)*n)
	k.Transpose(thread.turned, layer.relationMap[lo*d:hi*d], n, d)
	copyRows(thread.product, layer.relationAdd[lo:hi])
	k.Multiply(thread.product, w.embedding.stacked, thread.turned, len(distinct), d, n, true)
	for i, relation := range distinct {
		copy(w.embedded[relation][t][lo:hi], thread.product[i*n:])
	}
}

// relationEmbeddings returns a layer's relation embeddings for a query, [2R, dim]. Where they
// depend on the query, and Embed has not computed them already, they are written to buffer:
// the same bits, but more slowly while training, when maps are not kept transposed.
func (w *Weights) relationEmbeddings(k kernel.Kernel, t int, relation int32, buffer []float32) []float32 {
	layer, d := &w.layers[t], w.configuration.Dim
	if layer.relation != nil {
		return layer.relation
	}
	if embedded, ok := w.embedded[relation]; ok {
		return embedded[t]
	}
	copy(buffer, layer.relationAdd)
	if w.training {
		k.Multiply(buffer, layer.relationMap, w.Query(relation), len(buffer), d, 1, true)
	} else {
		for at := 0; at < len(buffer); at += d { // in the order in which the map lies in memory
			k.Multiply(buffer[at:at+d], w.Query(relation), layer.relationMix[at*d:(at+d)*d], 1, d, d, true)
		}
	}
	return buffer
}

// forget takes back the buffers of the last Embed: Load has changed what they were made of.
func (w *Weights) forget() {
	for relation, buffers := range w.embedded {
		w.spare = append(w.spare, buffers)
		delete(w.embedded, relation)
	}
	if w.embedded == nil {
		w.embedded = make(map[int32][][]float32)
	}
}

// buffers has room for one query's relation embeddings by layer.
func (w *Weights) buffers() [][]float32 {
	if last := len(w.spare) - 1; last >= 0 {
		buffers := w.spare[last]
		w.spare = w.spare[:last]
		return buffers
	}
	buffers := make([][]float32, len(w.layers))
	for t := range buffers {
		buffers[t] = make([]float32, w.relations*w.configuration.Dim)
	}
	return buffers
}
