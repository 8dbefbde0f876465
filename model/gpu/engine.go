package gpu

import (
	"fmt"
	"math"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Sizes that the kernels declare too.
const (
	heavyDegree  = 512  // entities of higher degree are computed by a block
	pieceSlots   = 512  // of a piece of a relation
	heavyThreads = 256  // of a block that takes a heavy entity, or a light one a warp
	queryOutputs = 512  // outputs of a block of relation_query
	maxParts     = 264  // blocks that share a sum over rows
	stripRows    = 64   // rows of equal degree that linear maps take together
	maxSpans     = 512  // of a layer, beside one for each degree and end
	maxBlocks    = 2112 // of a kernel in which a block takes many rows in turn
)

// machine is a device with a model's parameters in its memory.
type machine struct {
	device   device.Device
	dim      int // of the kernels: the configuration's, or more
	padding  padding
	memory   memory
	training bool
	twice    bool // whether two sets of queries are held
}

// engine computes a propagation along a graph that is in the device's memory: the entities' graph, or the relations'.
type engine struct {
	*machine
	graph         *graph.Graph
	configuration configuration.Configuration
	kernels       map[string]device.Kernel
	set                  // of the queries that are computed
	other         set    // while training: of the next queries
	capacity      int    // queries of a chunk
	input         []byte // the last one
	inverse       inverse
	between       *between // nil unless relations come from their graph
}

// newEngine loads the kernels, and puts the graph and the parameters on a device. between is the graph of the
// relations, or nil: the model makes it if it needs one.
func newEngine(d device.Device, g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32],
	training bool) (*engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Within(g.Entities)
	if err := Supports(c); err != nil {
		return nil, err
	}
	if g.IsOutline() {
		return nil, remedy.Errorf(device.UseCPU, "a device needs the edges of the graph, and only parts of it are held")
	}
	if err := fits(g, "entities"); err != nil {
		return nil, err
	}
	if !c.Windowed() { // a window in which all distances are 0
		c.Delta = c.Layers
	}
	m := &machine{device: d, dim: paddedDim(c.Dim), training: training, memory: memory{device: d}}
	e := &engine{machine: m, graph: g, configuration: c, inverse: g.Inverse}
	if c.Transfers() {
		if between == nil {
			between = relations.GraphOf(g)
		}
		e.between = newBetween(m, between, c)
		if err := fits(e.between.graph, "relations"); err != nil {
			return nil, err
		}
	}
	if err := e.prepare(p); err != nil {
		_ = e.close() // the first error says more
		return nil, err
	}
	return e, nil
}

// fits returns an error for a graph whose edges or nodes have no 32-bit indices.
func fits(g *graph.Graph, nodes string) error {
	if g.Edges() > math.MaxInt32/2 || g.Entities > math.MaxInt32/2 {
		return remedy.Errorf(device.UseCPU, "a graph of %d edges and %d %s is too large for a device", g.Edges(), g.Entities, nodes)
	}
	return nil
}

// placeGraph puts the graph on the device.
func (e *engine) placeGraph() {
	e.placeDegrees()
	e.placeEdges()
	if e.training {
		e.placeLinks()
	}
}

// prepare pads and copies the parameters and the graph to the device, and loads the kernels.
func (e *engine) prepare(p *parameters.Set[float32]) error {
	e.padding = newPadding(e.configuration, e.dim, e.graph.RelationCount())
	if e.padding.size > math.MaxInt32/2 { // parameters have 32-bit indices, and a loop over them a step behind the last one
		return remedy.Errorf(device.UseCPU, "a model of %d parameters, for %d relations, is too large for a device: at most %d",
			e.padding.size, e.graph.BaseRelations, math.MaxInt32/2)
	}
	if err := e.load(); err != nil {
		return err
	}
	e.placeParameters(p)
	e.describe(e.padding.layout, parameters.EntityPart)
	e.placeGraph()
	if e.between != nil {
		return e.between.prepare(e)
	}
	return e.memory.err
}

// load compiles all kernels.
func (e *engine) load() error {
	e.kernels = map[string]device.Kernel{}
	for _, source := range kernelSources {
		ptx, err := kernelSource(source, e.dim)
		if err != nil {
			return err
		}
		names := kernelEntries(ptx)
		loaded, err := e.device.Load(ptx, names...)
		if err != nil {
			return fmt.Errorf("%s.cu: %w", source, err)
		}
		for i, name := range names {
			e.kernels[name] = loaded[i]
		}
	}
	return nil
}

// describe sets the fields of the batch that are numbers, and the offsets of the parameters. Names of a part's
// parameters may lack the part's prefix.
func (e *engine) describe(layout []parameters.Shape, part string) {
	c, b := e.configuration, &e.batch
	offsets := map[string]int32{}
	next := int32(0)
	for _, shape := range layout {
		name := strings.TrimPrefix(shape.Name, part)
		offsets[name] = next
		next += int32(shape.Size())
		if strings.HasPrefix(name, "layers.0.") {
			b.LayerSize += int32(shape.Size())
		}
	}
	b.LinearAt, b.LinearBiasAt = offsets["layers.0.linear.weight"], offsets["layers.0.linear.bias"]
	b.ScaleAt, b.ShiftAt = offsets["layers.0.layer_norm.weight"], offsets["layers.0.layer_norm.bias"]
	switch c.Source() {
	case configuration.RelationsTable:
		b.RelationAt = offsets["layers.0.relation.weight"]
	case configuration.RelationsLinear:
		b.RelationAt, b.RelationBiasAt = offsets["layers.0.relation_linear.weight"], offsets["layers.0.relation_linear.bias"]
	case configuration.RelationsGraph:
		b.RelationAt = offsets["layers.0.relation_projection.0.weight"]
	}
	b.DegreeAt = offsets["layers.0.degree"]
	b.QueryAt, b.MLPAt, b.AttentionAt = offsets["query.weight"], offsets["mlp.0.weight"], offsets["mlp.0.weight"]
	if c.Attention == configuration.AttentionOwn {
		b.AttentionAt = offsets["attention.0.weight"]
	}
	b.QueryEmbeddings = b.Parameters.Offset(4 * int64(b.QueryAt))
	b.Live = int32(c.Dim)
	b.Entities, b.Edges, b.RelationCount = int32(e.graph.Entities), int32(e.graph.Edges()), int32(e.graph.RelationCount())
	b.Layers, b.Ages, b.Delta = int32(c.Layers), int32(e.configuration.Ages()), int32(c.Delta)
	b.Reduction = reductions[c.Aggregate]
	b.Width, b.Columns = int32(2*e.dim), int32(e.dim) // own state and reduction
	if c.Aggregate == configuration.AggregatePNA {
		b.Width, b.Columns = int32(5*e.dim), int32(3*e.dim)
	}
	b.Specific, b.Training = flag(c.Specific()), flag(e.training)
	b.DependentRelations, b.Bias, b.DegreeMessages = flag(c.Source() != configuration.RelationsTable), flag(c.Bias), flag(c.DegreeMessages)
	b.KeepScale = 1
	if e.training {
		dropped := min(math.Round(c.Dropout*65536), 65535) // as package propagation rounds it
		b.Threshold, b.KeepScale = int32(dropped), float32(65536/(65536-dropped))
	}
	b.Temperature, b.AttentionTemperature = float32(c.AdversarialTemperature), float32(c.AttentionTemperature)
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// mlpSize is the number of an MLP's partial gradients, the kernels' MLP_SIZE.
func (e *engine) mlpSize() int {
	return 2*e.dim*e.dim + 4*e.dim + 1
}

// extremes reports whether single messages get a gradient because they attain an extreme.
func (e *engine) extremes() bool {
	return e.configuration.Aggregate == configuration.AggregatePNA || e.configuration.Aggregate == configuration.AggregateMax
}

// mlpRows is the number of rows of a block of mlp_partial.
func (e *engine) mlpRows() int { return 2048 / e.dim }

// arrangedMLPs is the number of MLPs whose weights the kernels read in another order, as they do not fit shared memory.
func (e *engine) arrangedMLPs() int {
	switch {
	case e.dim <= 64:
		return 0
	case e.configuration.Specific():
		return 2
	}
	return 1
}

// gradientRows is the number of rows of a block of feature_gradients, a quarter of which a thread computes.
func (e *engine) gradientRows() int {
	if e.dim <= 64 {
		return 64
	}
	return 32
}

// placeParameters copies the parameters, one tensor behind the other in the order of the layout.
func (e *engine) placeParameters(p *parameters.Set[float32]) {
	e.batch.Parameters = e.memory.allocate(4 * int64(e.padding.size))
	e.memory.copyIn(e.batch.Parameters, device.Bytes(e.padding.pad(p.Tensors)))
}

// launch starts a kernel with blocks of a number of threads. Its first argument is the batch.
func (e *engine) launch(name string, blocks, threads int, arguments ...any) {
	if e.memory.err != nil || blocks == 0 {
		return
	}
	k, ok := e.kernels[name]
	if !ok {
		panic("gpu: there is no kernel " + name)
	}
	all := append(make([]any, 0, 12), e.at)
	if err := e.device.Launch(k, blocks, threads, append(all, arguments...)...); err != nil {
		e.memory.err = fmt.Errorf("running %s: %w", name, err)
	}
}

// close gives back the device's memory. The device stays open.
func (e *engine) close() error { return e.memory.free() }

// blocks returns the number of blocks for n elements of which a block takes size at a time.
func blocks(n, size int) int { return (n + size - 1) / size }

// turns returns a number of blocks that take their elements in turn.
func turns(n, size int) int { return min(blocks(n, size), maxBlocks) }
