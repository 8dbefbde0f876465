package bundle

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"tagnet/formats/manifest"
	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/kg"
	stagegraph "tagnet/stages/graph"
)

// inputs are what the stage's steps read: the graph, shared by the process, and the units.
type inputs struct {
	graph *graph.Graph
	known func(source, relation int32) []int32
	units []Unit
}

// open reads the inputs, once in a row for the same parameters.
func open(ctx context.Context, p Params) (*inputs, error) {
	loaded, err := stagegraph.Load(p.Graph)
	if err != nil {
		return nil, err
	}
	key := opened{graph: loaded, split: p.Split, queries: p.Queries, limit: p.Limit, training: p.Training}
	if p.Queries != "" {
		file, err := manifest.HashFile(ctx, p.Queries)
		if err != nil {
			return nil, err
		}
		key.queries += " " + file.SHA256
	}
	latest.Lock()
	defer latest.Unlock()
	if latest.inputs != nil && latest.opened == key {
		return latest.inputs, nil
	}
	view := loaded.Of(p.Split)
	answers := view.Answers
	if p.Training {
		answers = loaded.TrainAnswers
	}
	known, err := answers(ctx)
	if err != nil {
		return nil, err
	}
	in := &inputs{graph: view.Graph, known: known.Of}
	var queries []tables.Query
	if p.Queries == "" {
		queries, err = loaded.Queries(ctx, p.Split)
	} else {
		queries, err = tables.ReadQueryTable(ctx, p.Queries)
	}
	if err != nil {
		return nil, err
	}
	if in.units, err = in.group(queries, p); err != nil {
		return nil, err
	}
	latest.opened, latest.inputs = key, in
	return in, nil
}

// latest are the inputs that were opened last: the steps of one stage ask for the same.
var latest struct {
	sync.Mutex
	opened opened
	inputs *inputs
}

type opened struct {
	graph          *kg.KG
	split, queries string
	limit          int64
	training       bool
}

// group makes units of a table's queries, of Limit of them at most.
func (in *inputs) group(table []tables.Query, p Params) ([]Unit, error) {
	taken := make([]Query, 0, len(table))
	for i, q := range table {
		if n := int64(len(table)); p.Limit > 0 && p.Limit < n && int64(i)*p.Limit%n >= p.Limit {
			continue // every n/Limit-th stays
		}
		if int(max(q.Source, q.Answer)) >= in.graph.Entities || int(q.Relation) >= in.graph.RelationCount() {
			return nil, fmt.Errorf("query %d of %s asks for ids that the graph does not have", i, p.Queries)
		}
		if p.Queries != "" {
			q.Answer = None
		}
		taken = append(taken, Query{Number: int64(i), Source: q.Source, Relation: q.Relation, Answer: q.Answer})
	}
	units := Units(taken)
	for i := range units {
		units[i].Known = len(in.known(units[i].Source, units[i].Relation))
	}
	return units, nil
}

// builder makes a builder over the inputs.
func (in *inputs) builder(ctx context.Context, p Params) (*Builder, error) {
	return NewBuilder(ctx, in.graph, in.known, p.Distances, p.Hops, threads(p.Threads))
}

// threads is a number of threads, one a core where none is given.
func threads(n int) int {
	if n <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}
