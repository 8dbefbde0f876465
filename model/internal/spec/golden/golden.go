package golden

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Case is a configuration on a graph, with the model's results.
type Case struct {
	// Name is the file's name, without extension.
	Name          string
	Configuration configuration.Configuration
	Graph         *graph.Graph
	Parameters    *parameters.Set[float64]
	// Gradients are the gradients of BatchLoss, in the layout of Parameters.
	Gradients *parameters.Set[float64]
	Queries   []Query
	// BatchLoss is the mean of the queries' losses.
	BatchLoss float64
}

// Query is a query, with the removal of its answer from the graph, and the results of propagation without dropout.
type Query struct {
	graph.Query
	Negatives []int32

	// Distances has an entry per entity, 255 where it is not reached.
	Distances []uint8
	// Layers has the counts of layer t at t-1.
	Layers []Layer
	// Hiddens are the states after 0 to T layers, [T+1][V*d].
	Hiddens [][]float64
	// Final is [V*d], Score the logits of all entities [V].
	Final, Score []float64
	// Attention is [(T+1)*V], or nil unless delta is specific.
	Attention []float64
	// Priority is [T+1][V], or nil for policies without priorities.
	Priority [][]float64
	Loss     float64
	// RawRankPessimistic is the answer's rank among all entities, unfiltered, with ties counted against it.
	RawRankPessimistic int64
}

// Layer holds the counts of one layer for one query. Policies with priorities fill AStar, Kept and
// Active; the others all but AStar.
type Layer struct {
	Active          int64 `json:"active"`
	Kept            int64 `json:"kept"`
	KeptEmpty       int64 `json:"kept_empty"`
	PrunedEmpty     int64 `json:"pruned_empty"`
	PrunedRedundant int64 `json:"pruned_redundant"`
	AStar           int64 `json:"astar"`
}

// Parameters32 returns the parameters in float32.
func (c *Case) Parameters32() *parameters.Set[float32] {
	rounded := parameters.NewSet[float32](parameters.Layout(c.Configuration, c.Graph.RelationCount()))
	for i, tensor := range c.Parameters.Tensors {
		for j, value := range tensor.Data {
			rounded.Tensors[i].Data[j] = float32(value)
		}
	}
	return rounded
}

// Read reads one golden case. A field of the configuration that is missing, unknown or invalid is an
// error, and so is a tensor that does not fit the model.
func Read(path string) (*Case, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading golden case: %w", err)
	}
	return parse(path, text)
}

// parse reads the content of a file, which is compressed if its name ends in .gz.
func parse(path string, content []byte) (*Case, error) {
	text, err := decompress(path, content)
	if err != nil {
		return nil, fmt.Errorf("reading golden case %s: %w", path, err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("reading golden case %s: %w", path, err)
	}
	c, err := f.toCase()
	if err != nil {
		return nil, fmt.Errorf("reading golden case %s: %w", path, err)
	}
	c.Name = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".json")
	return c, nil
}

// decompress returns the content of a file, decompressed if its name ends in .gz.
func decompress(path string, content []byte) ([]byte, error) {
	if filepath.Ext(path) != ".gz" {
		return content, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// file is a golden case in the format on disk.
type file struct {
	Config     json.RawMessage   `json:"config"`
	Nodes      int               `json:"num_nodes"`
	Relations  int               `json:"num_relations"`
	Triples    [][3]int32        `json:"triples"`
	Parameters map[string]tensor `json:"parameters"`
	Gradients  map[string]tensor `json:"gradients"`
	Queries    []query           `json:"queries"`
	BatchLoss  *float64          `json:"batch_loss"`
}

// query is a Query in the format on disk.
type query struct {
	Source             int32    `json:"source"`
	Relation           int32    `json:"relation"`
	Answer             int32    `json:"answer"`
	Removed            string   `json:"removed"`
	Negatives          []int32  `json:"negatives"`
	Distance           []int    `json:"distance"`
	Layers             []Layer  `json:"layers"`
	Hiddens            []tensor `json:"hiddens"`
	Final              tensor   `json:"final"`
	Score              tensor   `json:"score"`
	Attention          tensor   `json:"attention"`
	Priority           []tensor `json:"priority"`
	Loss               *float64 `json:"loss"`
	RawRankPessimistic *int64   `json:"raw_rank_pessimistic"`
}

// toCase checks a file and returns its case.
func (f *file) toCase() (*Case, error) {
	settings, err := readConfiguration(f.Config)
	if err != nil {
		return nil, err
	}
	if f.Relations%2 != 0 {
		return nil, fmt.Errorf("num_relations is %d: want an even number, inverses included", f.Relations)
	}
	if f.BatchLoss == nil || len(f.Queries) == 0 {
		return nil, fmt.Errorf("batch_loss or queries are missing")
	}
	// The graph, and the tensors in its layout.
	c := &Case{Configuration: settings, BatchLoss: *f.BatchLoss}
	if c.Graph, err = newGraph(f.Nodes, f.Relations/2, f.Triples); err != nil {
		return nil, err
	}
	layout := parameters.Layout(settings, f.Relations)
	if c.Parameters, err = readSet(layout, f.Parameters); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if c.Gradients, err = readSet(layout, f.Gradients); err != nil {
		return nil, fmt.Errorf("gradients: %w", err)
	}
	for i := range f.Queries {
		q, err := f.Queries[i].toQuery(c)
		if err != nil {
			return nil, fmt.Errorf("query %d: %w", i, err)
		}
		c.Queries = append(c.Queries, q)
	}
	return c, nil
}

// toQuery checks a query against the graph and the configuration of c, and returns it.
func (q *query) toQuery(c *Case) (Query, error) {
	entities, layers, dim := c.Graph.Entities, c.Configuration.Layers, c.Configuration.Dim
	if q.Loss == nil || q.RawRankPessimistic == nil || len(q.Negatives) == 0 {
		return Query{}, fmt.Errorf("loss, raw_rank_pessimistic or negatives are missing")
	}
	if len(q.Distance) != entities || len(q.Layers) != layers {
		return Query{}, fmt.Errorf("%d distances and %d layers, want %d and %d", len(q.Distance), len(q.Layers), entities, layers)
	}
	if int(q.Relation) >= c.Graph.RelationCount() || q.Relation < 0 {
		return Query{}, fmt.Errorf("relation %d is outside 0..%d", q.Relation, c.Graph.RelationCount()-1)
	}
	for _, id := range append([]int32{q.Source, q.Answer}, q.Negatives...) {
		if id < 0 || int(id) >= entities {
			return Query{}, fmt.Errorf("entity %d is outside 0..%d", id, entities-1)
		}
	}
	// All numbers are in range; next what has a fixed set of values.
	read := Query{
		Query: graph.Query{Source: q.Source, Relation: q.Relation, Answer: q.Answer, Removal: configuration.Removal(q.Removed)}, Negatives: q.Negatives,
		Layers: q.Layers, Loss: *q.Loss, RawRankPessimistic: *q.RawRankPessimistic,
	}
	switch q.Removed {
	case configuration.RemoveNone, configuration.RemoveTriple, configuration.RemoveOneHop:
	default:
		return Query{}, fmt.Errorf("removed is %q: want triple, one_hop or none", q.Removed)
	}
	for _, d := range q.Distance {
		if d < 0 || d > 255 {
			return Query{}, fmt.Errorf("distance %d is outside 0..255", d)
		}
		read.Distances = append(read.Distances, uint8(d))
	}
	// Tensors need their shapes; the first error stays.
	var err error
	take := func(name string, t tensor, shape ...int) []float64 {
		if err == nil {
			err = t.check(name, shape)
		}
		return t.Data
	}
	takeEach := func(name string, tensors []tensor, shape ...int) (each [][]float64) {
		if len(tensors) != layers+1 && err == nil {
			err = fmt.Errorf("%s has %d tensors, want %d", name, len(tensors), layers+1)
		}
		for t, tensor := range tensors {
			each = append(each, take(fmt.Sprintf("%s[%d]", name, t), tensor, shape...))
		}
		return each
	}
	read.Hiddens = takeEach("hiddens", q.Hiddens, entities, dim)
	read.Final = take("final", q.Final, entities, dim)
	read.Score = take("score", q.Score, entities)
	if c.Configuration.Specific() {
		read.Attention = take("attention", q.Attention, layers+1, entities)
	}
	if c.Configuration.Prioritized() {
		read.Priority = takeEach("priority", q.Priority, entities)
	}
	return read, err
}
