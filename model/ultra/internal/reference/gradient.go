package reference

import (
	"fmt"
	"slices"

	"tagnet/model/graph"
	tagnet "tagnet/model/internal/reference"
	"tagnet/model/parameters"
)

// Example is a training query (Source, Relation, ?) of a base relation, whose answer is compared with negatives.
type Example struct {
	Source, Relation, Base, Answer int32
	Negatives                      []int32
	Temperature                    float64
}

// Loss returns the loss of an example, and adds its gradients to gradient unless that is nil. The graph lacks the fact that the
// example is about; the edges between relations are those of the graph with it.
func Loss(p *parameters.Set[float64], g *graph.Graph, edges tagnet.Edges, e Example, gradient *parameters.Set[float64]) float64 {
	relations := RelationStates(p, edges, g.RelationCount(), e.Base)
	final := relations[layers]
	tables, query := Tables(p, final), row(final, e.Relation)
	states := EntityStates(p, g, tables, e.Source, query)
	loss, byScores := tagnet.Loss(Scores(p, states[layers], query), e.Answer, e.Negatives, e.Temperature)
	if gradient == nil {
		return loss
	}
	byRelations := make([]float64, len(final))
	byQuery := row(byRelations, e.Relation)
	by := make([]float64, len(states[layers]))
	for o := range int32(g.Entities) {
		copy(row(by, o), scoreBackward(p, gradient, row(states[layers], o), query, byScores[o], byQuery))
	}
	messages := entityMessages(g)
	byStart := make([]float64, len(by))
	for t := layers - 1; t >= 0; t-- {
		byTable := make([]float64, len(tables[t]))
		by = layerBackward(p, gradient, fmt.Sprintf("entity_model.layers.%d.", t), messages, states[0], states[t], tables[t], by, byStart, byTable)
		tableBackward(p, gradient, t, final, byTable, byRelations)
	}
	add(byQuery, row(by, e.Source))
	add(byQuery, row(byStart, e.Source))

	by, byStart = byRelations, make([]float64, len(byRelations))
	for t := layers - 1; t >= 0; t-- {
		name := fmt.Sprintf("relation_model.layers.%d.", t)
		by = layerBackward(p, gradient, name, relationMessages(edges), relations[0], relations[t], p.Data(name+"relation.weight"), by, byStart, gradient.Data(name+"relation.weight"))
	}
	return loss
}

// message goes from a state to another, times a row of a table.
type message struct{ from, row, to int32 }

func entityMessages(g *graph.Graph) (messages []message) {
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			messages = append(messages, message{u, g.Inverse(relations[i]), o})
		}
	}
	return messages
}

func relationMessages(edges tagnet.Edges) (messages []message) {
	for k, ofType := range edges {
		for _, edge := range ofType {
			messages = append(messages, message{edge[1], int32(k), edge[0]})
		}
	}
	return messages
}

// layerBackward returns the gradient of a layer's states x, given by, that of the states after it, and adds those of the boundary
// start and of the table.
func layerBackward(p, gradient *parameters.Set[float64], name string, messages []message, start, x, table, by, byStart, byTable []float64) []float64 {
	total := slices.Clone(start)
	for _, m := range messages {
		addMessage(row(total, m.to), row(x, m.from), row(table, m.row))
	}
	byX, byTotal := make([]float64, len(x)), make([]float64, len(x))
	for o := range int32(len(x) / dim) {
		updateBackward(p, gradient, name, row(x, o), row(total, o), row(by, o), row(byX, o), row(byTotal, o))
	}
	add(byStart, byTotal)
	for _, m := range messages {
		addMessage(row(byX, m.from), row(byTotal, m.to), row(table, m.row))
		addMessage(row(byTable, m.row), row(byTotal, m.to), row(x, m.from))
	}
	return byX
}

// updateBackward sets the gradients of an update's inputs from that of its output.
func updateBackward(p, gradient *parameters.Set[float64], name string, x, total, by, byX, byTotal []float64) {
	input := slices.Concat(x, total)
	y := affine(p, name+"linear", input)
	scale, shift := p.Data(name+"layer_norm.weight"), p.Data(name+"layer_norm.bias")
	mean, deviation := statistics(y)
	normalized, byNormalized, byY := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	meanBy, along := 0.0, 0.0
	for j := range y {
		normalized[j] = (y[j] - mean) / deviation
		if normalized[j]*scale[j]+shift[j] <= 0 {
			continue
		}
		gradient.Data(name + "layer_norm.weight")[j] += by[j] * normalized[j]
		gradient.Data(name + "layer_norm.bias")[j] += by[j]
		byNormalized[j] = by[j] * scale[j]
		meanBy += byNormalized[j] / dim
		along += byNormalized[j] * normalized[j] / dim
	}
	for j := range y {
		byY[j] = (byNormalized[j] - meanBy - normalized[j]*along) / deviation
	}
	byInput := affineBackward(p, gradient, name+"linear", input, byY)
	copy(byX, by)
	add(byX, byInput[:dim])
	copy(byTotal, byInput[dim:])
}

// tableBackward adds the gradients of the relations' final states through a layer's table.
func tableBackward(p, gradient *parameters.Set[float64], layer int, relations, byTable, byRelations []float64) {
	name := fmt.Sprintf("entity_model.layers.%d.relation_projection.", layer)
	for r := range int32(len(relations) / dim) {
		hidden := affine(p, name+"0", row(relations, r))
		byHidden := reluBackward(hidden, affineBackward(p, gradient, name+"2", relu(hidden), row(byTable, r)))
		add(row(byRelations, r), affineBackward(p, gradient, name+"0", row(relations, r), byHidden))
	}
}

// scoreBackward returns the gradient of a final state, and adds that of the query's state.
func scoreBackward(p, gradient *parameters.Set[float64], x, query []float64, byScore float64, byQuery []float64) []float64 {
	input := slices.Concat(x, query)
	hidden := affine(p, "entity_model.mlp.0", input)
	byHidden := reluBackward(hidden, affineBackward(p, gradient, "entity_model.mlp.2", relu(hidden), []float64{byScore}))
	byInput := affineBackward(p, gradient, "entity_model.mlp.0", input, byHidden)
	add(byQuery, byInput[dim:])
	return byInput[:dim]
}

// affineBackward returns the gradient of a linear map's input x.
func affineBackward(p, gradient *parameters.Set[float64], name string, x, by []float64) []float64 {
	weight, byWeight, byBias := p.Data(name+".weight"), gradient.Data(name+".weight"), gradient.Data(name+".bias")
	byX := make([]float64, len(x))
	for i, v := range by {
		byBias[i] += v
		for j := range x {
			byWeight[i*len(x)+j] += v * x[j]
			byX[j] += v * weight[i*len(x)+j]
		}
	}
	return byX
}

func reluBackward(x, by []float64) []float64 {
	byX := make([]float64, len(x))
	for i := range x {
		if x[i] > 0 {
			byX[i] = by[i]
		}
	}
	return byX
}

func add(sum, x []float64) {
	for i := range x {
		sum[i] += x[i]
	}
}
