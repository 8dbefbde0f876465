package gpu

import "tagnet/model/weights/configuration"

// backward computes the gradients of n queries' losses. stride is the number of candidates of a query.
func (e *engine) backward(n, stride int, accumulate bool) {
	e.headBackward(n, stride, accumulate)
	e.layersBackward(n)
	e.embeddingBackward(n)
}

// layersBackward computes the gradients of the layers' parameters, of their relation embeddings and of the sources'
// states, given the gradients of final states.
func (e *engine) layersBackward(n int) {
	e.memory.clear(e.batch.RunLayers, int64(n)*e.graph.Edges())
	for t := e.configuration.Layers; t >= 1; t-- {
		layer := int32(t)
		e.launchRows("state_gradients", n, t)
		e.relationBackward(n, t+1)
		e.linearBackward(n, layer)
		if e.extremes() {
			e.launchRows("message_extremes", n, t)
		}
		if e.configuration.Bias || e.configuration.DegreeMessages {
			e.launch("vector_partial", int(e.batch.Parts), 32, layer)
			e.launch("vector_sum", 1, 4*e.dim, layer)
		}
	}
	e.launchRows("state_gradients", n, 0)
	e.relationBackward(n, 1)
	e.launch("relation_sum", turns(n*e.configuration.Layers*e.graph.RelationCount(), 8), 256)
}

// relationBackward sums the gradients of a layer's relation embeddings by pieces, once the gradients of the states
// before the layer are there.
func (e *engine) relationBackward(n, layer int) {
	if layer <= e.configuration.Layers {
		e.launch("relation_partial", turns(n*int(e.batch.Pieces), 4), 128, int32(layer))
	}
}

// headBackward computes the gradients of the MLPs and of the candidates' final states.
func (e *engine) headBackward(n, stride int, accumulate bool) {
	e.launch("score_backward", turns(n*stride, 8), 256)
	e.mlpBackward(n, stride, false, accumulate)
	if e.configuration.Specific() {
		e.launch("attend_backward", turns(n*stride, 8), 256)
		e.mlpBackward(n, stride*e.configuration.Ages(), true, accumulate || e.configuration.Attention == configuration.AttentionShared)
	}
}

// mlpBackward sums the gradients of an MLP over rows of each of n queries.
func (e *engine) mlpBackward(n, rows int, attention, add bool) {
	d, which := e.dim, flag(attention)
	e.launch("mlp_partial", n*blocks(rows, e.mlpRows()), 256, which)
	e.launch("mlp_query", n*blocks(e.mlpSize(), 256), 256, which)
	e.launch("mlp_sum", blocks(4*d*d+4*d+1, 256), 256, which, flag(add))
	e.launch("mlp_embedding", n, d, which)
}

// linearBackward takes a layer's gradients through the linear map.
func (e *engine) linearBackward(n int, layer int32) {
	tiles := e.dim / 32 * (e.dim / 32)
	rows := e.gradientRows()
	e.launch("feature_gradients", min(e.strips(n)*stripRows/rows, maxBlocks), rows/4*e.dim/4, layer)
	e.launch("weight_partial", e.spans(n)*tiles, 128, layer)
	e.launch("weight_sum", int(e.batch.Width)*e.dim/32, 256, layer)
}

// embeddingBackward computes the gradients of the relations' and the queries' embeddings.
func (e *engine) embeddingBackward(n int) {
	d, relations, layers := e.dim, e.graph.RelationCount(), e.configuration.Layers
	pieces := 0
	switch e.configuration.Source() {
	case configuration.RelationsTable:
		e.launch("relation_parameters", blocks(layers*relations*d, 256), 256)
	case configuration.RelationsLinear:
		pieces = blocks(layers*relations*d, queryOutputs)
		e.launch("relation_map", turns(layers*relations*d, 128), 128)
		e.launch("relation_query", n*pieces, 256)
	}
	e.launch("query_gradients", n, d, int32(pieces))
	if e.between != nil {
		e.between.backward(e)
		return
	}
	e.launch("query_parameters", blocks(relations*d, 256), 256)
}
