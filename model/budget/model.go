package budget

import (
	"tagnet/model/graph/subgraph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// rowBuffer is how many rows the forward pass multiplies at a time, headRows how many the score
// network takes.
const (
	rowBuffer = 128
	headRows  = 512
)

// parameterCount is the number of a model's parameters.
func parameterCount(s Sizes, c configuration.Configuration) int64 {
	total := int64(0)
	for _, shape := range parameters.Layout(c, int(s.Relations)) {
		total += int64(shape.Size())
	}
	return total
}

// width is the number of features of a receiver: PNA has four aggregates and the entity's own.
func width(c configuration.Configuration) int64 {
	if c.Aggregate == configuration.AggregatePNA {
		return 5 * int64(c.Dim)
	}
	return 2 * int64(c.Dim)
}

// maps is the bytes of a layer's linear maps: one for each of PNA's three scalers.
func maps(c configuration.Configuration) int64 {
	if c.Aggregate == configuration.AggregatePNA {
		return 3 * 4 * width(c) * int64(c.Dim)
	}
	return 4 * width(c) * int64(c.Dim)
}

// weights bounds the bytes of what the host makes of the weights beside copies of them.
func weights(s Sizes, c configuration.Configuration) int64 {
	switch {
	case s.OnDevice && c.Source() == configuration.RelationsGraph:
		return between(s, c)
	case s.OnDevice:
		return 0
	}
	return folded(s, c)
}

// folded bounds the bytes of weights in the form that propagation reads, which threads share.
func folded(s Sizes, c configuration.Configuration) int64 {
	d, layers := int64(c.Dim), int64(c.Layers)
	total := layers*maps(c) + 32*d*d + 8*s.Entities // 32 d d of the score network; scalers by degree
	switch c.Source() {
	case configuration.RelationsLinear:
		return total + 4*layers*s.Relations*d*d // a matrix per relation
	case configuration.RelationsGraph:
		return total + between(s, c)
	}
	return total + 8*layers*s.Relations*d
}

// propagator bounds the bytes of a thread's forward pass, and in training its backward pass.
func propagator(s Sizes, c configuration.Configuration, training bool) int64 {
	s, searched := within(s, c)
	v, d, layers, w := s.Entities, int64(c.Dim), int64(c.Layers), width(c)
	scoringWindow := !training && c.Policy == configuration.PolicyWindow
	lanes, ages := int64(1), int64(c.Ages())
	total := searched + 132*v + 18*s.Edges // rows, ranks and senders by layer; arrays grow by a quarter
	if scoringWindow {
		lanes = 2 // two queries of a source are propagated together
	}
	if scoringWindow || training && c.ShareStates {
		total += 22 * v * ages // equal states
	}
	if c.Source() == configuration.RelationsLinear {
		total += 4 * layers * s.Relations * d * (2*lanes - 1) // embeddings; those of two queries beside those of one
	}
	total += 4*(rowBuffer*lanes*(w+2*d)+rowBuffer*(w+3*d)+2*w*d+headRows*d*int64(c.States())) + 64<<10
	if c.Prioritized() {
		return total + prioritized(s, c, training)
	}
	tables := ages // of states
	switch {
	case !c.Windowed():
		ages, tables = layers, layers+1
	case c.Message == configuration.MessageTransE && c.Policy == configuration.PolicyWindow:
		tables += 2 // states of entities that nothing has reached
	case scoringWindow && !c.Specific():
		tables = 2 // the layer that is read and the one that is written
	}
	total += 4 * v * d * lanes * tables
	if training {
		total += 4*v*d*tables + 4*v*ages*(w+d+d/32+6) // gradients; features and masks for the backward pass
	}
	return total
}

// within returns the sizes of the part of a graph that a query propagates through, and the bytes of finding it: those of s and 0 without a
// reach. Entities near a source have more edges than others, as a guess 8 times as many.
func within(s Sizes, c configuration.Configuration) (part Sizes, searched int64) {
	const (
		perSearched = 100 // masses, a slot in a hash table, and a place in the order of scores
		perEdge     = 10  // its sender and relation; arrays grow by a quarter
		perEntity   = 40
		near        = 8
	)
	if c = c.Within(int(s.Entities)); c.Reach == 0 {
		return s, 0
	}
	part = s
	part.Entities = int64(c.Reach)
	part.Edges = min(s.Edges, near*part.Entities*s.Edges/max(1, s.Entities))
	if s.Outlined {
		return part, 0
	}
	return part, perSearched*min(s.Entities, subgraph.Searched*part.Entities) + perEdge*part.Edges + perEntity*part.Entities
}

// part bounds the bytes of a part of the graph that is read, with what is read beside it; 0 where the graph is held.
func part(s Sizes, c configuration.Configuration) int64 {
	const beside = 512 << 10 // the rest of a batch of parts, and its file's bytes
	if !s.Outlined {
		return 0
	}
	part, _ := within(s, c)
	return 20*part.Entities + 8*part.Edges + beside
}

// prioritized bounds the bytes of A*Net's states: a layer has no more new ones than it chooses
// edges.
func prioritized(s Sizes, c configuration.Configuration, training bool) int64 {
	nodes, degrees := c.Ratios(training)
	v, e, d := float64(s.Entities), float64(s.Edges), float64(c.Dim)
	chosen := min(e, degrees*nodes*e)
	receivers := min(v, chosen)
	state := 4 * (2*d + 1)                  // a state, the same weighted, and its priority
	around := 44*v + 16*e + 2*4*d*receivers // priorities, and a layer's edges and states
	if training {
		state += 4*(float64(width(c))+3*d+3) + 1 // features for the backward pass, and gradients
		around += 2 * 4 * d * receivers
	}
	layer := state*receivers + 2*4*d*receivers + 4*(8*receivers+2*chosen)
	return int64(1.3*(2*state+float64(c.Layers)*layer) + around) // arrays grow by a quarter
}

// scorer bounds the bytes of a thread that ranks all entities for a query: two arrays of scores of all entities, also with a reach, and
// a row of distances, a decompressor, and buffers of the score network.
func scorer(s Sizes, c configuration.Configuration) int64 {
	const decompressor = 1 << 18
	d := int64(c.Dim)
	return propagator(s, c, false) + 20*s.Entities + decompressor + 4*headRows*(3*d+2+int64(c.States())) + 64*d
}

// trainer bounds the bytes of a thread that trains: a propagator, the score network's graph for an
// answer and its negatives, and its part of the sums of gradients.
func trainer(s Sizes, c configuration.Configuration) int64 {
	d := int64(c.Dim)
	sums := maps(c) + 4*width(c)*d + 5000*(int64(c.BatchSize)+d)
	part, _ := within(s, c)
	return propagator(s, c, true) + network(c) + sums + 5*part.Entities
}

// network bounds the bytes of the score network's graph for an answer and its negatives.
func network(c configuration.Configuration) int64 {
	n, d := int64(1+c.Negatives), int64(c.Dim)
	total := 4*n*(12*d+16) + 160*d*d + 128<<10
	if c.Specific() {
		total += 4 * n * int64(c.States()) * (14*d + 8)
	}
	return total
}

// explainer bounds the bytes of a thread that explains: a propagator, the gradients of parameters, and the edges that paths
// may take with the best paths to their receivers.
func explainer(s Sizes, c configuration.Configuration, paths int) int64 {
	const edge, path = 24, 16
	v, d, layers := s.Entities, int64(c.Dim), int64(c.Layers)
	sent := layers // layers in which an edge is sent along
	if c.Windowed() {
		sent = min(layers, int64(c.Delta)+1)
	}
	total := propagator(s, c, !c.Prioritized()) + 36*v
	if !c.Prioritized() {
		total += layers * (4*s.Relations*d + maps(c) + 16*d)
	}
	part, _ := within(s, c)
	return total + sent*(edge*part.Edges+path*int64(paths)*v)*5/2 // arrays grow by a quarter, and are copied then
}

// batch bounds the bytes that a step of training needs for each query of its batch: relation
// embeddings, gradients of all parameters, and their sums.
func batch(s Sizes, c configuration.Configuration) int64 {
	d, layers := int64(c.Dim), int64(c.Layers)
	query := layers*(4*s.Relations*d+maps(c)+16*d) + 50*d*d + 64*d + 4<<10
	if c.Source() == configuration.RelationsLinear {
		query += 4 * layers * (s.Relations*d + s.Relations*d*d/1000 + 2*d)
	}
	return int64(c.BatchSize)*query + layers*maps(c)
}

// Searcher bounds the bytes of a search from so many words of 64 sources at once, beside the graph.
// It gathers distances, levels of edges, or both.
func Searcher(entities int64, words int, distances, levels bool) int64 {
	n, w := entities+128, int64(words)
	total := 24*w*n + 8*n // reached, and reached in this and the next step
	if distances {
		total += 64 * w * n // half a byte an entity and source, by entity and by source
	}
	if levels {
		total += 640<<10 + 64*280*w
	}
	return total
}

// Words are how many words of 64 sources a search may take at once, the most first.
var Words = []int{8, 4, 2, 1}

// Widest returns the most words with which every core has a thread within a budget of bytes, or 1.
func Widest(estimate func(words int) Estimate, budget int64, cores int) int {
	for _, words := range Words {
		if p, err := estimate(words).Plan(budget, 0, cores); err == nil && p.Threads >= cores {
			return words
		}
	}
	return 1
}
