package budget

import (
	"tagnet/model/engine/parts"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// PartsAtOnce is the most queries of a shard whose parts of the graph are in memory.
const PartsAtOnce = 64

// Shards is how many shards whose tables a process makes are in memory: one is computed while another is written.
const Shards = 2

// Sizes are what an estimate is computed from.
type Sizes struct {
	// Entities, Edges and Relations are those of the graph on which a split is queried, with
	// inverse edges and relations.
	Entities, Edges, Relations int64
	// RelationEdges is the number of edges between relations, where the model takes those from their graph.
	RelationEdges int64
	// Graph is the bytes of the graphs in memory, with names and known answers. Outlined is set if there are none: then
	// queries are read with the parts of the graph that they propagate through.
	Graph    int64
	Outlined bool
	// Queries is the number of queries, Distinct of the distinct pairs (source, relation) among them,
	// and Sources of distinct sources.
	Queries, Distinct, Sources int64
}

// Use is what a model is used for.
type Use struct {
	// Task is that of an Estimate.
	Task string
	// Training is set if gradients are computed, and steps are made.
	Training bool
	// Paths, unless 0, is how many paths are found to each answer that is explained.
	Paths int
	// Rows is how many rows of tables are in memory.
	Rows int64
	// Devices is on how many devices the model is computed, whatever happens; 0 if the processor may compute it.
	Devices int
	// Averages is set if the process averages the weights of several workers.
	Averages bool
}

// ForModel estimates the memory of a process that uses a model.
func ForModel(s Sizes, c configuration.Configuration, u Use) Estimate {
	const (
		perQuery = 160 // as it is read, and grouped by source
		perEdge  = 36  // training facts in order, or what answers are judged by
		perPair  = 16  // of relations that leave an entity
		perRow   = 280 // as a value, as a row and its columns, before and after they are compressed
		perScore = 20  // of each entity
	)
	e := Estimate{Task: u.Task, Held: perQuery*s.Queries + perRow*u.Rows}
	if part, _ := s.within(c); s.Outlined {
		e.Held += max(PartsAtOnce, int64(c.BatchSize)) * (20*part.Entities + 8*part.Edges + MiB/2)
	} else {
		e.Held += s.Graph + perEdge*s.Edges + perPair*min(s.Relations*s.Relations, 8*s.Edges)
	}
	if s.Outlined && u.Training { // keys by which the facts that are not held are put in order
		if e.Held += 8 * s.Edges; c.Batching != configuration.BatchingRandom {
			e.Held += 20 * s.Edges
		}
	}
	e.Thread = s.states(c, false) + perScore*s.Entities
	copies, steps := int64(2), int64(0)
	if u.Training {
		copies, steps = 6, s.batch(c) // gradients, two moments, and a file
		e.Thread = max(e.Thread, s.states(c, true)+s.negatives(c))
	}
	if c.WeightAverage > 0 {
		copies += 3
	}
	if u.Averages {
		copies += 15 // sums, a result and the average, with their files
	}
	if u.Paths > 0 {
		e.Thread += s.states(c, true)/2 + s.paths(c, int64(u.Paths)) // an answer depends on some states only
	}
	weights := 4*copies*s.parameters(c) + s.folded(c) + steps
	if devices := int64(u.Devices); devices > 0 { // states are there
		weights = devices * (8*copies*s.parameters(c) + 32*(s.Edges+s.RelationEdges) + 8*int64(c.BatchSize*(1+c.Negatives)))
		e.Thread = devices * perScore * s.Entities
	}
	e.Held += weights
	return e
}

// parameters returns the number of a model's parameters.
func (s Sizes) parameters(c configuration.Configuration) (total int64) {
	for _, shape := range parameters.Layout(c, int(s.Relations)) {
		total += int64(shape.Size())
	}
	return total
}

// width is the number of features of a receiver: PNA has four aggregates and the entity's own. scalers is how many
// linear maps it has.
func width(c configuration.Configuration) (width, scalers int64) {
	if c.Aggregate == configuration.AggregatePNA {
		return 5 * int64(c.Dim), 3
	}
	return 2 * int64(c.Dim), 1
}

// folded bounds the bytes of weights in the form that propagation reads, which threads share.
func (s Sizes) folded(c configuration.Configuration) int64 {
	d, layers := int64(c.Dim), int64(c.Layers)
	w, scalers := width(c)
	total := 4*layers*scalers*w*d + 32*d*d + 8*s.Entities
	switch c.Source() {
	case configuration.RelationsLinear:
		return total + 4*layers*s.Relations*d*d // a matrix per relation
	case configuration.RelationsGraph: // that graph, what the base relations share of which it is kept, and what makes it
		shared := 4 * s.Relations * d * (layers + 1)
		kept := min(s.Relations/2*shared, max(8*shared, 32*MiB))
		return total + 2*leastBuffer + 9*s.RelationEdges + kept + 20*s.Relations*d
	}
	return total + 8*layers*s.Relations*d
}

// batch bounds the bytes that the queries of a step of training share: relation embeddings and gradients of each.
func (s Sizes) batch(c configuration.Configuration) int64 {
	d, layers := int64(c.Dim), int64(c.Layers)
	w, scalers := width(c)
	query := 4*layers*(2*s.Relations*d+scalers*w*d) + 50*d*d + 4<<10
	if c.Source() == configuration.RelationsGraph {
		query += 16 * s.parameters(c)
	}
	return int64(c.BatchSize) * query
}

// negatives bounds the bytes of the score network's graph for an answer and its negatives, and of a
// thread's sums of gradients.
func (s Sizes) negatives(c configuration.Configuration) int64 {
	d := int64(c.Dim)
	w, scalers := width(c)
	total := 50*int64(1+c.Negatives)*d*int64(1+c.States()) + 160*d*d + 4*scalers*w*d + 5000*(int64(c.BatchSize)+d)
	if c.Source() == configuration.RelationsGraph {
		total += 4 * s.Relations * d * int64(c.RelationLayers+9)
	}
	return total
}

// paths bounds the bytes of the edges that paths may take, and of the best paths to their receivers.
func (s Sizes) paths(c configuration.Configuration, paths int64) int64 {
	sent := int64(c.Layers) // layers in which an edge is sent along
	if c.Windowed() {
		sent = min(sent, int64(c.Delta)+1)
	}
	part, _ := s.within(c)
	return sent * (25*part.Edges + 40*paths*part.Entities)
}

// states bounds the bytes of a thread that propagates a query, and in training takes the gradient.
func (s Sizes) states(c configuration.Configuration, training bool) int64 {
	s, found := s.within(c)
	v, d := s.Entities, int64(c.Dim)
	w, _ := width(c)
	total := found + 150*v + 18*s.Edges + d*(16<<10+8*w) // who sends to whom, by layer; buffers of rows
	ages, tables := int64(c.Ages()), int64(c.Ages())+1
	switch {
	case c.Prioritized(): // a layer has no more new states than it chooses edges
		nodes, degrees := c.Ratios(training)
		v = min(v, int64(nodes*degrees*float64(s.Edges)))
		ages, tables = int64(c.Layers), 4*int64(c.Layers)
	case !c.Windowed():
		ages, tables = int64(c.Layers), int64(c.Layers)+1
	case !training && !c.Specific() && c.Message != configuration.MessageTransE:
		tables = 2 // of the layer that is read, and the one that is written
	}
	if c.Source() == configuration.RelationsLinear {
		total += 4 * int64(c.Layers) * s.Relations * d
	}
	if total += 4 * v * d * tables; training {
		total += 4*v*d*tables + 4*v*ages*(w+d+8) // gradients; features and masks
	}
	return total
}

// within returns the sizes of the part of a graph that a query propagates through, and the bytes of finding it: those
// of s and 0 without a reach. Entities near a source have more edges than others, as a guess 8 times as many.
func (s Sizes) within(c configuration.Configuration) (part Sizes, found int64) {
	if c = c.Within(int(s.Entities)); c.Reach == 0 {
		return s, 0
	}
	part = s
	part.Entities = int64(c.Reach)
	part.Edges = min(s.Edges, 8*part.Entities*s.Edges/max(1, s.Entities))
	if s.Outlined {
		return part, 0
	}
	return part, 100*min(s.Entities, parts.Searched*part.Entities) + 10*part.Edges + 40*part.Entities
}
