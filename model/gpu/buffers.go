package gpu

import (
	"math"
	"unsafe"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
	"tagnet/model/weights/configuration"
)

// buffer is device memory whose size depends on the number of queries of a chunk.
type buffer struct {
	at    *device.Pointer
	bytes int64 // for each query
	once  int64 // for all queries
}

// buffers returns the buffers of a chunk of queries, with their sizes. stride is the number of candidates of a query,
// and capacity the number of queries, which matters to a few small ones alone.
func (e *engine) buffers(stride, capacity int) []buffer {
	c, b, g := e.configuration, &e.batch, e.graph
	v, edges, d, t, ages := int64(g.Entities), g.Edges(), int64(e.dim), int64(c.Layers), int64(e.configuration.Ages())
	width, hidden, relations := int64(b.Width), 2*d, int64(g.RelationCount())*d
	rows, featureRows, candidates := ages*v+1, v+1, int64(stride)
	// The kernels read and write whole words of 32 queries.
	perWord := float64(blocks(capacity, 32)) / float64(capacity)
	degrees := int64(b.Degrees)
	words := int64(perWord*float64(4*v)) + 1
	mlpRows := candidates
	if c.Specific() {
		mlpRows = candidates * (1 + ages)
	}
	lists := int64(0) // of candidates, and how often each was drawn
	if e.training {
		lists = 8 * candidates
	}
	// The forward pass. A buffer has bytes for each query of a chunk, and bytes for all of them together.
	all := []buffer{
		{&e.at, querySize + lists, int64(unsafe.Sizeof(*b))}, {&b.Bad, 8*t + 4, badSize}, // the input; what is read back: Bad, Sent and Losses
		{&b.Active, (t + 1) * v, 0}, {&b.Counts, 8 * (t + 1), 0}, {&b.Starts, 8 * (t + 1), 0}, {&b.RowBegin, 0, 4 * (t + 2)}, {&b.HeavyEnd, 0, 4 * (t + 2)},
		{&b.Rows, rowSize * rows, 0}, {&b.RowDegree, 4 * rows, 0}, {&b.RowAdmitted, 4 * rows, 0}, {&b.RowSent, 4 * rows, 0},
		{&b.RowNumbers, 4 * (t + 1) * v, 0}, {&b.Places, 0, 4 * t * (v + 1)}, {&b.StripBegin, 0, 4 * t * (degrees + 1)},
		{&b.Strips, 0, 4 * t * stripRows * int64(e.strips(capacity))},
		{&b.Maps, 0, 4 * t * width * int64(b.Columns)}, {&b.Transposed, 0, 4 * t * width * int64(b.Columns)},
		{&b.States, 4 * ages * v * d, 0}, {&b.Shift, 8 * hidden, 0}, {&b.Scores, 4 * mlpRows, 0},
	}
	if mlps := e.arrangedMLPs(); mlps > 0 {
		all = append(all, buffer{&b.MLPMaps, 0, 4 * int64(mlps) * d * hidden})
	}
	if e.searches() {
		all = append(all, buffer{&b.Reached, v, 0}, buffer{&b.Frontier, words, 4 * v}, buffer{&b.Found, words, 4 * v}, buffer{&b.Seen, words, 4 * v})
	}
	if !c.Windowed() {
		all = append(all, buffer{&b.Distances, v, 0})
	}
	if c.Source() == configuration.RelationsLinear {
		all = append(all, buffer{&b.Dependent, 4 * t * relations, 0})
	}
	// Scoring keeps no activations; all that follows serves the backward pass.
	if !e.training {
		if c.Specific() {
			all = append(all, buffer{&b.Final, 4 * candidates * d, 0})
		}
		return append(all, buffer{&b.Features, 4 * featureRows * width, 0})
	}
	pieces := int64(blocks(stride, e.mlpRows()))
	finals := candidates
	if c.Specific() {
		pieces, finals = int64(blocks(stride*int(ages), e.mlpRows())), candidates*ages
	}
	spans, extremes := int64(e.spans(capacity)), int64(flag(e.extremes()))
	perQuery := max(pieces*int64(e.mlpSize()), int64(blocks(int(t*relations), queryOutputs))*d)
	return append(all,
		buffer{&b.Slots, 4 * v, 0},
		buffer{&b.Masks, 4 * rows * (d / 32), 0}, buffer{&b.Features, 4 * rows * width, 0}, buffer{&b.Normalized, 4 * rows * d, 0},
		buffer{&b.Deviations, 4 * rows, 0},
		buffer{&b.Final, 4 * mlpRows * d, 0}, buffer{&b.Hidden, 4 * mlpRows * hidden, 0}, buffer{&b.ScoreGradients, 4 * mlpRows, 0},
		buffer{&b.HiddenGradients, 4 * mlpRows * hidden, 0}, buffer{&b.Attention, 4 * candidates * ages, 0},
		buffer{&b.FinalGradients, 4 * finals * d, 0}, buffer{&b.Gradient, 4 * rows * d, 0}, buffer{&b.Linear, 4 * rows * d, 0},
		buffer{&b.Affine, int64(b.Bias) * 4 * rows * d, 0}, buffer{&b.FeatureGradients, 4 * featureRows * width, 0},
		buffer{&b.DegreeGradients, int64(b.DegreeMessages) * 4 * featureRows * d, 0}, buffer{&b.Boundary, 4 * (t + 1) * d, 0},
		buffer{&b.Attained, extremes * 8 * rows * d, 0}, buffer{&b.Extremes, extremes * edges * d / 4, 0}, buffer{&b.RunSums, 4 * edges * d, 0},
		buffer{&b.RunLayers, edges, 0},
		buffer{&b.RelationPartials, 4 * t * int64(b.Pieces) * d, 0}, buffer{&b.RelationGradients, 4 * t * relations, 0},
		buffer{&b.QueryGradients, 4 * d, 0},
		buffer{&b.Partial, 4 * perQuery, 4 * spans * width * d}, buffer{&b.SpanScales, 0, 16 * spans},
		buffer{&b.Spans, 0, 8 * t * spans}, buffer{&b.SpanCounts, 0, 4 * t},
	)
}

// reserve is the device memory that is left free for the driver and the kernels.
const reserve = 256 << 20

// trainingChunk is the memory for queries of a training step that are computed together. A step's sums are grouped by
// chunk, and its last bits must not depend on the card, or on the memory that other processes leave free.
const trainingChunk = 6 << 30

// free returns the device memory that buffers may take.
func (e *engine) free() int64 {
	free := e.device.Properties().Free
	return max(free-min(reserve, free/8), 0)
}

// placeBuffers allocates the buffers of as many queries as fit a chunk of bytes, at least one, at most mostQueries.
func (e *engine) placeBuffers(stride, mostQueries int, chunk int64) error {
	if e.memory.err != nil {
		return e.memory.err
	}
	var each, once int64
	for _, buffer := range e.buffers(stride, mostQueries) {
		each, once = each+buffer.bytes+256, once+buffer.once+256
	}
	indexed, err := e.indexed(stride)
	if err != nil {
		return err
	}
	slots := int64(0) // of base relations, beside a chunk's
	eachBase, bases := int64(0), int64(0)
	if b := e.between; b != nil {
		if !e.training {
			slots = min(b.bases(), chunk/4/b.slotBytes())
		}
		eachBase, bases = b.needs(mostQueries)
		eachBase, once = eachBase+b.slotBytes(), once+bases+slots*b.slotBytes()
		bases = b.bases()
	}
	e.capacity = int(min(int64(mostQueries), max(1, queriesIn(chunk-once, each, eachBase, bases)), indexed))
	together := min(int64(e.capacity), bases)
	needed, free := each*int64(e.capacity)+eachBase*together+once, e.free()
	if needed > free {
		return remedy.Errorf(remedy.Do("end other processes on the GPU, train with a smaller %v or %v", remedy.Flag("batch_size"), device.UseCPU),
			"%w: %d of the queries that are computed together take %d MiB beside the graph and the weights, of %d MiB free",
			device.ErrMemory, e.capacity, needed>>20, free>>20)
	}
	e.twice = e.training && needed+e.setBytes(stride, e.capacity, int(together)) <= free
	e.allocate(stride, e.capacity)
	if e.between != nil {
		e.between.placeBuffers(&e.batch, int(together), int(max(together, slots)))
	}
	e.makeOther(stride)
	e.memory.synchronize() // the stream that prepares does not wait for what was placed
	return e.memory.err
}

// queriesIn returns the number of queries whose buffers fit, each with a base relation of its own up to the
// number of base relations.
func queriesIn(bytes, each, eachBase, bases int64) int64 {
	if n := bytes / (each + eachBase); n <= bases {
		return n
	}
	return (bytes - bases*eachBase) / each
}

// allocate places the buffers of a number of queries.
func (e *engine) allocate(stride, capacity int) {
	e.capacity = capacity
	for _, buffer := range e.buffers(stride, capacity) {
		*buffer.at = e.memory.allocate(buffer.bytes*int64(capacity) + buffer.once)
	}
	e.shareDistances()
	if !e.configuration.Windowed() {
		e.memory.clear(e.batch.Distances, int64(e.capacity)*int64(e.graph.Entities))
	}
	e.batch.CandidateStride = int32(stride)
	e.batch.Parts = int32(e.parts(e.capacity))
	e.batch.StripStride, e.batch.SpanStride = int32(e.strips(e.capacity)), int32(e.spans(e.capacity))
}

// shareDistances lets the update of entities read the search's distances, within a window.
func (e *engine) shareDistances() {
	if e.configuration.Windowed() {
		e.batch.Distances = e.batch.Reached
	}
}

// indexed returns the number of queries whose values the kernels count and index with 32 bits: rows with their masks,
// states, relation embeddings and the pieces of their gradients, candidates, hidden units. Where a loop takes large
// steps, half of the range is left to them.
func (e *engine) indexed(stride int) (int64, error) {
	words := e.dim / 32
	rows := int64(e.configuration.Ages()+1) * int64(words)
	if queries := math.MaxInt32 / (rows * int64(e.graph.Entities+1)); queries >= 1 {
		most := max(int64(e.graph.RelationCount())*int64(e.dim), int64(e.batch.Pieces), int64(stride), int64(4*e.dim))
		queries = min(queries, max(1, math.MaxInt32/2/most))
		if b := e.between; b != nil {
			bases, err := b.indexed(b.relations)
			if err != nil || bases < b.bases() {
				return min(queries, bases), err
			}
		}
		return queries, nil
	}
	return 0, remedy.Errorf(device.UseCPU, "%d entities or relations with %d states each are too many for a device: at most %d",
		e.graph.Entities, e.configuration.Ages(), math.MaxInt32/rows-1)
}

// parts returns the number of blocks that share a sum over the rows of a number of queries.
func (e *engine) parts(queries int) int { return min(maxParts, blocks(queries*e.graph.Entities, 32)) }
