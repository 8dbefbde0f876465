package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"tagnet/formats/manifest"
	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/explanation"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/parameters"
	"tagnet/model/search"
)

// trial is a trained model with the answers that are explained.
type trial struct {
	options
	loaded        *kg.KG
	view          *kg.View
	configuration configuration.Configuration
	weights       *parameters.Set[float32]
	kernel        kernel.Kernel
	worker        *explanation.Worker
	random        *rand.Rand

	queries []tables.Query
	// explained has the explanation of each query's answer.
	explained []explanation.Explanation
}

// open reads the model and draws the queries.
func open(ctx context.Context, o options) (*trial, error) {
	t := &trial{options: o, random: rand.New(rand.NewPCG(o.seed, 0))}
	folder := storage.Join(o.workspace, kg.Folder)
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("%w; make the graph with go run ./pipelines/preprocess --workspace %s", err, o.workspace)
	}
	if t.loaded, err = kg.Load(ctx, folder, m); err != nil {
		return nil, err
	}
	t.view = t.loaded.Of(o.split)
	checkpoints, name := checkpoint.Locate(checkpoint.FolderOf(o.workspace, o.name), o.checkpoint)
	record, weights, err := checkpoints.Model(ctx, name, t.loaded.Relations, t.loaded.Vocabularies()...)
	if err != nil {
		return nil, err
	}
	t.configuration, t.weights = record.Configuration, weights
	if t.kernel, err = kernel.Named(""); err != nil {
		return nil, err
	}
	explainer, err := explanation.New(t.view.Graph, nil, t.configuration, weights, t.kernel)
	if err != nil {
		return nil, err
	}
	t.worker = explainer.Worker()
	return t, t.draw(ctx)
}

// draw draws queries whose answers are within reach.
func (t *trial) draw(ctx context.Context) error {
	queries, err := t.loaded.Queries(ctx, t.split)
	if err != nil {
		return err
	}
	queries = slices.Clone(queries)
	t.random.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	searcher, distances := search.NewSearcher(t.view.Graph), make([]uint8, t.view.Graph.Entities)
	for _, q := range queries {
		if len(t.queries) == t.options.queries {
			break
		}
		searcher.Search(q.Source, t.configuration.Layers, graph.Removal{}, distances)
		if q.Answer != q.Source && distances[q.Answer] != reach.Unreached {
			t.queries = append(t.queries, q)
		}
	}
	if len(t.queries) == 0 {
		return fmt.Errorf("no answer of %s is within %d hops of its source", t.split, t.configuration.Layers)
	}
	return nil
}

// time explains all answers and prints how long that takes.
func (t *trial) time(ctx context.Context, out io.Writer) error {
	var times []time.Duration
	for _, q := range t.queries {
		begin := time.Now()
		explained, err := t.worker.Explain(ctx, explanation.Query{Source: q.Source, Relation: q.Relation}, q.Answer, t.paths, t.walks)
		if err != nil {
			return err
		}
		times = append(times, time.Since(begin))
		t.explained = append(t.explained, explained)
	}
	slices.Sort(times)
	n := len(times)
	fmt.Fprintf(out, "%d answers of %s, %d paths each, one thread, %s: median %s, 95%% within %s, longest %s\n", n, t.split, t.paths, t.kernel.Name(),
		rounded(times[n/2]), rounded(times[n*95/100]), rounded(times[n-1]))
	t.countRepetitions(out)
	return nil
}

// countRepetitions prints how many paths return to an entity, and how many differ from a better one in inverse facts only, and how many answers
// have no path.
func (t *trial) countRepetitions(out io.Writer) {
	all, none, returning, repeating := 0, 0, 0, 0
	for _, explained := range t.explained {
		seen := map[string]bool{}
		none += count(len(explained.Paths) == 0)
		for _, p := range explained.Paths {
			visited, form, returns := map[int32]bool{p.Edges[0].Sender: true}, "", false
			for _, e := range p.Edges {
				returns = returns || visited[e.Receiver]
				visited[e.Receiver] = true
				form += fmt.Sprint(int(e.Relation)%len(t.loaded.Relations), " ", e.Receiver, " ")
			}
			all, returning, repeating = all+1, returning+count(returns), repeating+count(seen[form])
			seen[form] = true
		}
	}
	share := func(part int) float64 { return 100 * float64(part) / float64(max(1, all)) }
	fmt.Fprintf(out, "%d paths: %.1f%% visit an entity twice, %.1f%% differ from a better one in inverse facts only; %d answers have none\n", all, share(returning), share(repeating), none)
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// score returns the score of a query's answer on a graph.
func (t *trial) score(ctx context.Context, g *graph.Graph, q tables.Query) (float32, error) {
	scorer, err := inference.New(g, nil, t.configuration, t.weights, t.kernel)
	if err != nil {
		return 0, err
	}
	scores := make([]float32, g.Entities)
	err = scorer.Worker().Scores(ctx, q.Source, []int32{q.Relation}, [][]float32{scores})
	return scores[q.Answer], err
}
