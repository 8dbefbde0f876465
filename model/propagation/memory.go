package propagation

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/window"
)

// Memory bounds the bytes of one propagator over a graph of V entities, E edges and R2
// relations, all of which a source may reach:
//
//	layout      window.Memory, 57 V + 18 E, and 21 V ages + 37 V while scoring in a window
//	states      8 V dim lanes; 4 V dim ages while training, and as much of gradients
//	way back    4 V ages (width + dim + 2), while training alone
//	rows        8 V, and 13 V ages while training
//	relations   4 R2 dim layers (1 + 2 for two lanes), where they depend on the query
//	scratch     of a chunk of 128 rows, and of the matrix of a degree
//
// ages is delta + 1, and one more than the layers without a window; lanes is 2 where two
// questions may be scored side by side, whatever the kernel of the machine; width is 5 dim for PNA, else 2 dim. A*Net's policies have
// versions of states instead, of which a layer makes no more than it chooses edges.
func Memory(g *graph.Graph, c configuration.Configuration, training bool) int64 {
	entities, d, layers := int64(g.Entities), int64(c.Dim), int64(c.Layers)
	relations, width, words := int64(g.RelationCount()), widthOf(c), int64(c.Dim+31)/32
	lanes := int64(1)
	if c.Policy == configuration.PolicyWindow && !training {
		lanes = 2
	}
	compared := 0 // ages
	if c.Policy == configuration.PolicyWindow && !training {
		compared = min(c.Delta, c.Layers) + 1
	}
	total := window.Memory(g, compared) + scratchMemory(c, lanes, training)
	if c.Dependent {
		total += 4 * layers * relations * d
		if lanes > 1 {
			total += 4 * layers * relations * 2 * d
		}
	}
	if c.Prioritized() {
		return total + priorityMemory(g, c, training)
	}
	ages, tables := int64(min(c.Delta, c.Layers)+1), int64(min(c.Delta, c.Layers)+1)
	if c.Policy == configuration.PolicyFull {
		ages, tables = layers, layers+1
	}
	if c.Policy == configuration.PolicyWindow {
		switch {
		case c.Message == configuration.MessageTransE:
			tables += emptyTables
		case !training && !c.Specific():
			tables = 2
		}
	}
	total += 4*entities*d*lanes*tables + 8*entities
	if training {
		total += 4*entities*d*tables + 4*entities*ages*(width+d+1+words)
		total += 8*entities + 5*entities*ages // what is needed
	}
	return total
}

// widthOf is the number of features of a receiver.
func widthOf(c configuration.Configuration) int64 {
	if c.Aggregate == configuration.AggregatePNA {
		return 5 * int64(c.Dim)
	}
	return 2 * int64(c.Dim)
}

// scalersOf is the number of linear maps of a layer, of [width, dim] each.
func scalersOf(c configuration.Configuration) int64 {
	if c.Aggregate == configuration.AggregatePNA {
		return 3
	}
	return 1
}

// scratchMemory is that of a chunk of rows, of a matrix and its gradient, and of final states.
func scratchMemory(c configuration.Configuration, lanes int64, training bool) int64 {
	d, width := int64(c.Dim), widthOf(c)
	const final = 512 // rows that Reached shows at a time
	rows := chunkRows * (lanes*(width+d+2+d/32) + d + 8)
	if training {
		rows += chunkRows * (width + 2*d)
	} else {
		rows += final * d * int64(c.States())
	}
	return 4*(rows+2*width*d) + 1<<14
}

// priorityMemory bounds A*Net's versions, choice and layers.
func priorityMemory(g *graph.Graph, c configuration.Configuration, training bool) int64 {
	nodes, degrees := c.Ratios(training)
	entities, edges, d := float64(g.Entities), float64(g.Edges()), float64(c.Dim)
	senders := nodes * entities
	chosen := min(edges, degrees*nodes*edges)
	receivers := min(entities, chosen)
	versions := 2 + float64(c.Layers)*receivers
	version := 4 * (4*d + 1)
	layer := 4*d*(senders+2*receivers) + 4*(senders+6*receivers+2*chosen)
	beside := 20*entities + 16*edges + 4*d*receivers // the choice, and a layer's messages
	if training {
		version += 4 * (float64(widthOf(c)) + 2*d + 3)
		beside += 4 * d * (senders + 6*receivers)
	}
	return int64(1.3*(versions*version+float64(c.Layers)*layer) + beside)
}

// WeightsMemory bounds the bytes of weights that are ready to propagate, shared by all threads,
// beside the parameters themselves:
//
//	maps        4 layers scalers width dim, twice while training
//	relations   4 layers R2 dim dim where they depend on the query; while training
//	            4 layers R2 dim for each query of a batch instead
//	sums        of a batch's gradients: 4 batch (layers R2 dim dim / 1008 + 1008 threads)
//
// batch and threads count only while training; batch is 0 for scoring.
func WeightsMemory(g *graph.Graph, c configuration.Configuration, batch, threads int) int64 {
	d, layers, relations := int64(c.Dim), int64(c.Layers), int64(g.RelationCount())
	maps := 4 * scalersOf(c) * widthOf(c) * d
	total := layers*maps + 1<<14
	total += 12 * int64(g.HighestDegree()+1) // scalers by degree
	if batch == 0 {
		if c.Dependent {
			return total + 4*layers*relations*d*d
		}
		return total + 8*layers*relations*d
	}
	queries, workers := int64(batch), int64(threads)
	total += layers*maps + workers*(maps+4*widthOf(c)*d)
	if c.Dependent {
		parts := (relations*d + sumBlock - 1) / sumBlock
		total += 4 * queries * layers * relations * d
		total += 4*queries*(layers*parts*d+2*d) + 4*workers*(queries*(sumBlock+embedBlock)+embedBlock*d)
	}
	return total
}

// GradientsMemory is the bytes of one query's Gradients: 4 layers dim (R2 + scalers width + 4).
func GradientsMemory(c configuration.Configuration, relations int) int64 {
	d := int64(c.Dim)
	total := 4 * int64(c.Layers) * d * (int64(relations) + scalersOf(c)*widthOf(c) + 4)
	if c.Prioritized() {
		total += 4 * (4*d*d + 6*d)
	}
	return total + 4*d + 1024
}
