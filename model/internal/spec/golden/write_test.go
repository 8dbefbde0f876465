package golden

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Write writes a case in the layout that Read understands, compressed. facts are the facts of c.Graph. Values other
// than parameters are rounded to within half of Tolerance64.
func Write(path string, c *Case, facts []graph.Fact) error {
	settings, err := configurationFields(c.Configuration)
	if err != nil {
		return fmt.Errorf("writing golden case %s: %w", path, err)
	}
	f := file{
		Config: settings, Nodes: c.Graph.Entities, Relations: c.Graph.RelationCount(), BatchLoss: &c.BatchLoss,
		Parameters: tensorsOf(c.Parameters, false), Gradients: tensorsOf(c.Gradients, true),
	}
	for _, fact := range facts {
		f.Triples = append(f.Triples, [3]int32{fact.Head, fact.Relation, fact.Tail})
	}
	for i := range c.Queries {
		f.Queries = append(f.Queries, c.Queries[i].toFile(c))
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("writing golden case %s: %w", path, err)
	}
	// Compressed in memory, so that no file is half written.
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(append(text, '\n'))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("writing golden case %s: %w", path, err)
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// configurationFields returns the fields of a configuration that cases have.
func configurationFields(c configuration.Configuration) (json.RawMessage, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	for _, name := range append(required[:len(required):len(required)], optional...) {
		if value, ok := all[name]; ok {
			fields[name] = value
		}
	}
	if c.Attention == "" {
		fields["attention"] = json.RawMessage("null")
	}
	return json.Marshal(fields)
}

// toFile returns the query as a file has it, its large tensors rounded.
func (q *Query) toFile(c *Case) query {
	entities, layers, dim := c.Graph.Entities, c.Configuration.Layers, c.Configuration.Dim
	f := query{
		Source: q.Source, Relation: q.Relation, Answer: q.Answer, Removed: c.Configuration.Remove, Negatives: q.Negatives,
		Layers: q.Layers, Loss: &q.Loss, RawRankPessimistic: &q.RawRankPessimistic,
		Final: rounded(q.Final, entities, dim), Score: rounded(q.Score, entities),
	}
	for _, distance := range q.Distances {
		f.Distance = append(f.Distance, int(distance))
	}
	for _, states := range q.Hiddens {
		f.Hiddens = append(f.Hiddens, rounded(states, entities, dim))
	}
	if q.Attention != nil {
		f.Attention = rounded(q.Attention, layers+1, entities)
	}
	for _, priorities := range q.Priority {
		f.Priority = append(f.Priority, rounded(priorities, entities))
	}
	return f
}

// tensorsOf returns the tensors by name, rounded if round.
func tensorsOf(set *parameters.Set[float64], round bool) map[string]tensor {
	tensors := map[string]tensor{}
	for _, t := range set.Tensors {
		tensors[t.Name] = tensor{Shape: t.Shape, Data: t.Data}
		if round {
			tensors[t.Name] = rounded(t.Data, t.Shape...)
		}
	}
	return tensors
}

// rounded returns a tensor whose values differ by at most half of Tolerance64 from data.
func rounded(data []float64, shape ...int) tensor {
	largest := smallest
	for _, value := range data {
		largest = math.Max(largest, math.Abs(value))
	}
	decimals := max(0, int(math.Ceil(-math.Log10(largest*Tolerance64))))
	t := tensor{Shape: shape, Data: make([]float64, len(data))}
	for i, value := range data {
		t.Data[i], _ = strconv.ParseFloat(strconv.FormatFloat(value, 'f', decimals, 64), 64)
	}
	return t
}
