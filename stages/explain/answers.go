package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"tagnet/formats/lock"
	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/model/budget"
	"tagnet/model/checkpoint"
	"tagnet/model/explanation"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/parallel"
	"tagnet/stages/graph"
	"tagnet/stages/relationgraph"
	"tagnet/stages/worker"
)

// pool explains with all threads of a process, one slice at a time.
type pool struct {
	busy    sync.Mutex
	view    *kg.View
	names   []string // of the base relations
	lookup  *kg.Lookup
	workers []*explanation.Worker
}

// version identifies a pool: that of other parameters, another graph or other weights replaces it.
type version struct {
	params         string
	graph, weights string // checksums
}

// loadPool returns the process's pool. There is one at a time.
func loadPool(ctx context.Context, p Params) (*pool, error) {
	loaded, err := graph.Load(ctx, p.Graph, p.Without...)
	if err != nil {
		return nil, err
	}
	m, err := worker.Model(ctx, checkpoint.Folder(p.Checkpoints), p.Checkpoint, loaded)
	if err != nil {
		return nil, err
	}
	p.Lock = lock.Lock{} // of this pipeline alone
	v := version{fmt.Sprint(p), loaded.Manifest.Checksum, m.Record.Weights.SHA256}
	return worker.Load(worker.Key{Kind: "explainer"}, v, func() (*pool, error) {
		budget.Limit(p.Memory) // as long as the process lives
		k, err := kernel.Named(p.Kernel)
		if err != nil {
			return nil, err
		}
		m.Configuration.Reach = p.Reach
		view := loaded.Of(p.Split)
		between, err := relationgraph.Load(ctx, p.RelationGraph, loaded)
		if err != nil {
			return nil, err
		}
		explainer, err := explanation.New(view.Graph, between, m.Configuration, m.Parameters, k)
		if err != nil {
			return nil, err
		}
		out := &pool{view: view, names: loaded.Relations, lookup: loaded.Lookup(view)}
		for range worker.Threads(p.Threads, p.MostThreads) {
			out.workers = append(out.workers, explainer.Worker())
		}
		return out, nil
	})
}

// explain returns the rows of the best paths to answers, in their order. done is called after each answer, by one thread
// at a time.
func (p *pool) explain(ctx context.Context, answers []parquet.Prediction, params Params, done func()) ([]parquet.Explanation, error) {
	p.busy.Lock()
	defer p.busy.Unlock()
	var counting sync.Mutex
	each := make([][]parquet.Explanation, len(answers))
	err := parallel.Try(ctx, len(p.workers), len(answers), func(ctx context.Context, i, task int) error {
		rows, err := p.rows(ctx, p.workers[i], answers[task], params)
		if err != nil {
			return err
		}
		each[task] = rows
		counting.Lock()
		defer counting.Unlock()
		done()
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []parquet.Explanation
	for _, rows := range each {
		all = append(all, rows...)
	}
	return all, nil
}

// rows explains one answer.
func (p *pool) rows(ctx context.Context, w *explanation.Worker, a parquet.Prediction, params Params) ([]parquet.Explanation, error) {
	query, err := p.lookup.Query(ctx, a.Source, a.Relation, a.Direction == metrics.Head)
	if err != nil {
		return nil, err
	}
	entity, err := p.lookup.Entity(ctx, a.Entity)
	if err != nil {
		return nil, err
	}
	explained, err := w.Explain(ctx, query, entity, params.Paths, params.Walks)
	if err != nil {
		return nil, fmt.Errorf("explaining %s as an answer of (%s, %s, ?): %w", a.Entity, a.Source, a.Relation, err)
	}
	rows := make([]parquet.Explanation, len(explained.Paths))
	for i, path := range model.NamedPaths(p.view.Entities, p.names, explained.Paths) {
		steps, err := json.Marshal(path.Steps)
		if err != nil {
			return nil, err
		}
		rows[i] = parquet.Explanation{
			Query: a.Query, Direction: a.Direction, Source: a.Source, Relation: a.Relation, Entity: a.Entity,
			Path: int32(i + 1), Weight: path.Weight, Text: path.Text(), Steps: string(steps),
		}
	}
	return rows, nil
}
