package configuration

// The sources of relation embeddings. They are written to disk.
const (
	RelationsTable  = "table"  // embeddings and tables of relations are parameters
	RelationsLinear = "linear" // the tables are a linear map of the embedding of the query's relation
	RelationsGraph  = "graph"  // both come from a propagation between relations
)

// relationSource describes the parameters of a source of relation embeddings.
type relationSource struct {
	// query says that the embeddings of queries' relations are a parameter; layer lists the parameters of each layer.
	query bool
	layer []RelationTensor
	// transfers says that no parameter belongs to a relation and the graph of the relations is needed.
	transfers bool
}

// RelationTensor is a parameter of a relation source in a layer.
type RelationTensor struct {
	Name string
	// Shape returns its shape for a number of relations, 2R, and dimensions of states.
	Shape func(relations, dim int) []int
}

// relationSources has an entry for each name of a source.
var relationSources = map[string]relationSource{
	RelationsTable: {query: true, layer: []RelationTensor{
		{"relation.weight", func(relations, dim int) []int { return []int{relations, dim} }},
	}},
	RelationsLinear: {query: true, layer: []RelationTensor{
		{"relation_linear.weight", func(relations, dim int) []int { return []int{relations * dim, dim} }},
		{"relation_linear.bias", func(relations, dim int) []int { return []int{relations * dim} }},
	}},
	RelationsGraph: {transfers: true}, // parameters.Layout has its tensors
}

// Source returns the source of relation embeddings: table, linear or graph.
func (c Configuration) Source() string {
	switch {
	case c.Relations != "":
		return c.Relations
	case c.Dependent:
		return RelationsLinear
	}
	return RelationsTable
}

// RelationTensors returns the parameters of each layer for the source of relations, and whether the embeddings of
// queries' relations are a parameter.
func (c Configuration) RelationTensors() (layer []RelationTensor, query bool) {
	source := relationSources[c.Source()]
	return source.layer, source.query
}

// relationsGiven reports whether Relations names the source, rather than Dependent.
func (c Configuration) relationsGiven() bool { return c.Relations != "" }

// dependentGiven reports whether Dependent chooses the source.
func (c Configuration) dependentGiven() bool { return c.Relations == "" }

// Transfers reports whether no parameter belongs to a relation, so that the model answers queries on any graph. Then it
// needs the graph of the relations.
func (c Configuration) Transfers() bool { return relationSources[c.Source()].transfers }
