package gpu

import (
	"context"
	"math"

	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Sizes that relations.cu declares, too.
const (
	projectedRows = 1024 // values of the rows of a table that a block computes
	projectPiece  = 256  // rows of a partial sum of the maps' gradients
)

// between is the propagation between relations, where their embeddings come from their graph: its final states are the
// embeddings of queries' relations, and two maps a layer make the tables of the entities' layers of them. Queries of a
// base relation, of either direction, share all of it. The same kernels compute it as the propagation between entities:
// relations are the entities of its graph, types of edges its relations, and every state is one of a candidate.
type between struct {
	engine
	relations, layers int // 2R, and layers of the entities

	// Slots hold the states and the tables of base relations: for scoring as many as fit, for training a chunk's.
	slots map[int32]int32 // by base relation
	held  []int32         // by slot: the base relation, or -1
	next  int32           // the slot that is replaced next
	// fresh are the base relations of a chunk that are not in a slot yet.
	fresh      []int32
	candidates []int32 // while training: all relations, for each base relation of a chunk

	freshSlots, embeddings, projected, byTable, byHidden, partial device.Pointer
}

// edgeTypes is the number of types of edges between relations.
const edgeTypes = parameters.RelationTypes

// newBetween returns the propagation along the graph of relations for a model of configuration c.
func newBetween(m *machine, over *relations.Graph, c configuration.Configuration) *between {
	senders, n := over.Senders(), over.Relations()
	g := &graph.Graph{Entities: n, BaseRelations: edgeTypes / 2, Senders: senders.Rows, Relations: senders.Relations, Offsets: make([]int64, n+1)}
	for r := range n + 1 {
		g.Offsets[r] = int64(senders.Offsets[3*r])
	}
	own := configuration.Default()
	own.Dim, own.Layers, own.Delta, own.Policy = c.Dim, c.RelationLayers, c.RelationLayers, configuration.PolicyFull
	own.Aggregate, own.Message, own.Dependent, own.Bias, own.Dropout = configuration.AggregateSum, configuration.MessageDistMult, false, true, 0
	turned := [edgeTypes]int32{0, 1, 3, 2} // hh and tt are symmetric, th is ht turned round
	return &between{
		engine:    engine{machine: m, graph: g, configuration: own, inverse: func(kind int32) int32 { return turned[kind] }},
		relations: n, layers: c.Layers, slots: map[int32]int32{},
	}
}

// prepare copies the graph of relations and the state that queries start with to the device.
func (b *between) prepare(e *engine) error {
	b.kernels = e.kernels
	b.batch.Parameters = e.batch.Parameters
	b.describe(b.padding.layout, parameters.RelationPart)
	b.placeGraph()
	ones := make([]float32, b.dim)
	for j := range b.configuration.Dim {
		ones[j] = 1
	}
	b.batch.QueryEmbeddings = place(&b.memory, ones)
	return b.memory.err
}

func (b *between) bases() int64 { return int64(b.relations / 2) }

// slotBytes returns the bytes of a base relation's states and tables.
func (b *between) slotBytes() int64 { return 4 * int64(1+b.layers) * int64(b.relations*b.dim) }

// mapsSize returns the number of parameters of the maps of all layers.
func (b *between) mapsSize() int { return b.layers * 2 * (b.dim*b.dim + b.dim) }

// needs returns the bytes of each of n base relations that are computed together, and the bytes for all of
// them, without slots.
func (b *between) needs(n int) (each, once int64) {
	for _, buffer := range append(b.buffers(b.relations, n), b.relationBuffers()...) {
		each, once = each+buffer.bytes, once+buffer.once+256
	}
	return each, once
}

// relationBuffers returns the buffers of base relations, beside the layers' buffers.
func (b *between) relationBuffers() []buffer {
	all := []buffer{{&b.freshSlots, 4, 0}}
	if table := 4 * int64(b.layers) * int64(b.relations*b.dim); b.training {
		sums := 4 * int64(b.mapsSize())
		all = append(all, buffer{&b.projected, table, 0}, buffer{&b.byTable, table, 0}, buffer{&b.byHidden, table, 0},
			buffer{&b.partial, sums * int64(blocks(b.relations, projectPiece)), sums})
	}
	return all
}

// placeBuffers allocates the buffers of n base relations that are computed together, and a number of slots.
func (b *between) placeBuffers(of *batch, n, slots int) {
	b.batch.Gradients = of.Gradients
	b.allocate(b.relations, n)
	for _, buffer := range b.relationBuffers() {
		*buffer.at = b.memory.allocate(buffer.bytes*int64(n) + buffer.once)
	}
	b.held = make([]int32, min(slots, math.MaxInt32/b.relations)) // rows of embeddings have 32-bit indices
	for slot := range b.held {
		b.held[slot] = -1
	}
	states := 4 * int64(b.relations*b.dim)
	b.embeddings = b.memory.allocate(states * int64(len(b.held)))
	of.QueryEmbeddings, of.Dependent = b.embeddings, b.memory.allocate(states*int64(b.layers*len(b.held)))
	if !b.training {
		return
	}
	var slotsByRelation []int32 // of a chunk, every base relation has the slot of its number
	for i := range n {
		slotsByRelation = append(slotsByRelation, int32(i))
		for r := range b.relations {
			b.candidates = append(b.candidates, int32(r))
		}
	}
	b.memory.copyIn(b.freshSlots, device.Bytes(slotsByRelation))
}

// base returns the base relation of a query's.
func (b *between) base(relation int32) int32 { return relation % int32(b.relations/2) }

// assign gives queries of a chunk their slots, and notes the base relations to compute: all of them while training,
// since weights have changed.
func (b *between) assign(queries []encodedQuery) {
	b.fresh = b.fresh[:0]
	if b.training {
		clear(b.slots)
		b.next = 0
	}
	used := map[int32]bool{}
	for _, q := range queries {
		if slot, ok := b.slots[b.base(q.Relation)]; ok {
			used[slot] = true
		}
	}
	for i := range queries {
		q := &queries[i]
		base := b.base(q.Relation)
		if _, ok := b.slots[base]; !ok {
			for used[b.next] {
				b.next = (b.next + 1) % int32(len(b.held))
			}
			delete(b.slots, b.held[b.next])
			b.slots[base], b.held[b.next], used[b.next] = b.next, base, true
			b.fresh = append(b.fresh, base)
		}
		q.Table = b.slots[base]
		q.Embedding = q.Table*int32(b.relations) + q.Relation
	}
}

// chunks returns the number of blocks that compute the rows of a table.
func (b *between) chunks() int { return blocks(b.relations, projectedRows/b.dim) }

// states returns the address of the final states of n base relations.
func (b *between) states(n int) device.Pointer {
	return b.batch.States.Offset(4 * int64(b.configuration.Layers) * int64(n) * int64(b.relations*b.dim))
}

// send copies the fresh base relations to the device, as queries of a batch.
func (b *between) send(accumulate int32) {
	n := len(b.fresh)
	queries, slots := make([]encodedQuery, n), make([]int32, n)
	for i, base := range b.fresh {
		queries[i], slots[i] = encodedQuery{Source: base, Answer: -1, Candidates: int32(b.relations)}, b.slots[base]
	}
	b.start(queries, b.candidates[:min(n*b.relations, len(b.candidates))], nil, func(own *batch) { own.Accumulate = accumulate })
	if !b.training {
		b.memory.copyIn(b.freshSlots, device.Bytes(slots))
	}
}

// forward computes the states and tables of the fresh base relations, for the batch of the entities.
func (b *between) forward(e *engine) {
	n := b.current
	if n == 0 {
		return
	}
	_ = b.propagate(context.Background(), n) // slots are computed whole
	e.launch("project", turns(n*b.layers*b.chunks(), 1), 256, int32(n), b.states(n), b.freshSlots, b.embeddings, b.projected)
}

// backward computes the gradients of the parameters that the chunk's embeddings and tables depend on.
func (b *between) backward(e *engine) {
	n := b.current
	pieces := blocks(n*b.relations, projectPiece)
	e.launch("project_backward", turns(n*b.layers*b.chunks(), 1), 256, int32(n), b.projected, b.byTable, b.byHidden)
	e.launch("project_states", turns(n*b.chunks(), 1), 256, int32(n), b.byHidden, b.batch.FinalGradients)
	e.launch("project_weights", pieces*b.layers*2, 256, int32(n), b.states(n), b.projected, b.byTable, b.byHidden, b.partial)
	e.launch("project_sum", blocks(b.mapsSize(), 256), 256, int32(pieces), b.partial)
	b.layersBackward(n)
	b.launch("relation_parameters", blocks(b.configuration.Layers*edgeTypes*b.dim, 256), 256)
}
