package gpu

import (
	"context"
	"unsafe"

	"tagnet/model/engine/device"
	"tagnet/model/weights/configuration"
)

// start copies the queries of a chunk to the device, for training with their candidates and their multiplicities, and
// the batch, which change, unless nil, completes. It is one copy, since a device waits for each.
func (e *engine) start(queries []encodedQuery, candidates, multiplicity []int32, change func(*batch)) {
	b := e.batch
	b.Batch = int32(len(queries))
	e.assign(queries)
	e.current = len(queries)
	b.Queries = e.at.Offset(int64(unsafe.Sizeof(b)))
	b.CandidateEntities = b.Queries.Offset(querySize * int64(len(queries)))
	b.Multiplicity = b.CandidateEntities.Offset(4 * int64(len(candidates)))
	b.Sent = e.sent()
	b.Losses = b.Sent.Offset(8 * int64(e.configuration.Layers*len(queries)))
	if change != nil {
		change(&b)
	}
	e.input = append(e.input[:0], device.Bytes([]batch{b})...)
	e.input = append(e.input, device.Bytes(queries)...)
	e.input = append(append(e.input, device.Bytes(candidates)...), device.Bytes(multiplicity)...)
	e.memory.copyIn(e.at, e.input)
	if e.between != nil {
		e.between.send(b.Accumulate)
	}
}

// searches reports whether distances are needed: by the window, or for a Scorer's results.
func (e *engine) searches() bool { return e.configuration.Windowed() || !e.training }

// assign sets the addresses of the embeddings of queries' relations.
func (e *engine) assign(queries []encodedQuery) {
	if e.between != nil {
		e.between.assign(queries)
		return
	}
	for i := range queries {
		queries[i].Embedding, queries[i].Table = queries[i].Relation, int32(i)
	}
}

// search finds the distances from the sources of n queries.
func (e *engine) search(n int) {
	if !e.searches() {
		return
	}
	v, words := e.graph.Entities, blocks(n, 32)
	e.launch("search_start", blocks(n*v, 256), 256)
	e.launch("search_first", n, 256)
	e.launch("search_pack", blocks(words*v, 128), 128)
	for distance := 2; distance <= e.configuration.Layers; distance++ {
		e.launch("search_next", turns(words*v, 4), 128, int32(distance))
	}
}

// findRows decides which entities each layer updates for n queries, and numbers the updates. While training these are
// the ones that the candidates' final states depend on.
func (e *engine) findRows(n int) {
	v, layers := e.graph.Entities, e.configuration.Layers
	if e.training {
		e.memory.clear(e.batch.Active, int64((layers+1)*n*v))
		e.memory.clear(e.batch.Slots, int64(4*n*v))
		e.memory.clear(e.batch.RowNumbers, int64(4*(layers+1)*n*v))
		e.launch("activate_candidates", n, 128)
		for t := layers; t >= 2; t-- {
			e.launch("activate_senders", turns(n*v, 4), 128, int32(t))
		}
	} else {
		e.launch("activate_all", blocks(n*v, 256), 256)
	}
	e.launch("rows_count", (layers+1)*n, 1024)
	e.launch("rows_start", 1, 1024)
	e.launch("rows_write", (layers+1)*n, 1024)
	e.memory.clear(e.batch.Strips, 4*stripRows*int64(layers)*int64(e.batch.StripStride))
	e.launch("strips_count", blocks(layers*v, 256), 256)
	e.launch("strips_start", layers, 1024)
	e.launch("strips_write", blocks(layers*v, 256), 256)
	if b := e.between; b != nil && b.current > 0 {
		b.findRows(b.current)
	}
	if e.training && e.batch.Threshold > 0 {
		words := e.dim / 32
		e.launch("draw_masks", turns(e.configuration.Ages()*n*v*words, 256), 256, int32(words))
	}
}

// embed computes tables and MLP terms that depend on the embeddings of n queries alone.
func (e *engine) embed(n int) {
	d, relations := e.dim, e.graph.RelationCount()
	switch e.configuration.Source() {
	case configuration.RelationsLinear:
		e.launch("embed", turns(e.configuration.Layers*relations*d, 128), 128)
	case configuration.RelationsGraph:
		e.between.forward(e)
	}
	mlps := 1
	if e.configuration.Specific() {
		mlps = 2
	}
	e.launch("mlp_shift", mlps*n, 2*d)
}

// arrange puts the linear maps and the MLPs in the kernels' layout, after each change of the parameters.
func (e *engine) arrange() {
	if e.between != nil {
		e.between.arrange()
	}
	e.launch("arrange", turns(e.configuration.Layers*int(e.batch.Width*e.batch.Columns), 256), 256)
	if mlps := e.arrangedMLPs(); mlps > 0 {
		e.launch("mlp_arrange", blocks(mlps*2*e.dim*e.dim, 256), 256)
	}
}

// propagate computes the states of all layers for n queries, unless ctx is done.
func (e *engine) propagate(ctx context.Context, n int) error {
	if !e.configuration.Windowed() { // messages of states before layer 1 are sent, too
		e.memory.clear(e.batch.States, int64(4*e.dim)*int64(n)*int64(e.graph.Entities))
	}
	e.launch("start_states", n, 32)
	for t := 1; t <= e.configuration.Layers; t++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e.launchRows("aggregate", n, t)
		e.launch("update", min(e.strips(n), maxBlocks), 2*e.dim, int32(t))
	}
	return nil
}

// launchRows starts a kernel for the rows of a layer of n queries: its first blocks take the rows of heavy entities.
func (e *engine) launchRows(name string, n, layer int) {
	heavy := n * int(e.batch.HeavyCount)
	if layer == 0 {
		heavy = n // the sources
	}
	heavy = min(heavy, maxBlocks)
	e.launch(name, heavy+min(blocks(n*e.graph.Entities, 8), maxBlocks), heavyThreads, int32(layer), int32(heavy))
}

// sent returns the address of the counts of countSent.
func (e *engine) sent() device.Pointer { return e.batch.Bad.Offset(badSize) }

// countSent counts the messages of n queries by layer and query.
func (e *engine) countSent(n int) { e.launch("count_sent", e.configuration.Layers*n, 256) }

// score computes the scores of stride candidates of each of n queries.
func (e *engine) score(n, stride int) {
	if e.configuration.Specific() {
		e.launch("attend", turns(n*stride, 8), 256)
	}
	e.launch("score", turns(n*stride, 8), 256)
}

// values copies values from the device, waiting for all work before.
func values[T any](e *engine, from device.Pointer, into []T) []T {
	e.memory.copyOut(device.Bytes(into), from)
	return into
}
