package distances

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"tagnet/formats/manifest"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
)

// choice is how a split is searched.
type choice struct {
	method string
	why    string          // what auto says of its choice
	worker distances.Width // of a worker that holds the graph
	join   distances.JoinParams
	wave   int // blocks of sources that are searched by a join in one go
}

// choose decides by --memory where --method is auto, and tells why. A method that the budget
// does not hold is a mistake in the flags.
func (f *flags) choose(ctx context.Context, e *command.Environment, m manifest.Manifest, sources, queries int) (choice, error) {
	params, size, err := f.params(e, m, sources, queries)
	if err != nil {
		return choice{}, err
	}
	cores, local := runtime.GOMAXPROCS(0), command.Local()
	needs, err := workerNeeds(ctx, e, m, size, cores)
	if err != nil {
		return choice{}, err
	}
	need := needs[1] // the least
	// What a worker takes with one thread; the threads it has are those that fit.
	_, tooSmall := need.Divide(f.memory*budget.MiB, 1, 1)
	if f.method == worker || f.method == auto && tooSmall == nil {
		chosen := distances.Widest(needs, f.memory*budget.MiB, cores)
		share, err := e.Divide(needs[chosen.Words], f.memory, 0)
		if err != nil {
			if _, _, large := params.Plan(size, f.memory*budget.MiB, cores, local); large == nil {
				err = fmt.Errorf("%w; or --method join, which holds no graph", err)
			}
			return choice{}, err
		}
		chosen.Threads = share.Most
		c := choice{method: worker, worker: chosen, join: params}
		if f.method == auto {
			c.why = fmt.Sprintf("method worker: a worker holds the graph of %s edges; that takes %d MiB or more, --memory is %d", progress.Count(size.Edges), least(need), f.memory)
		}
		return c, nil
	}
	planned, wave, err := params.Plan(size, f.memory*budget.MiB, cores, local)
	var small *budget.TooSmall
	if errors.As(err, &small) {
		if f.method == auto && least(need) <= small.Least/budget.MiB {
			_, err = e.Divide(need, f.memory, 1)
			return choice{}, err
		}
		return choice{}, command.FlagError("memory", f.memory, small.Error())
	}
	if err != nil {
		return choice{}, err
	}
	c := choice{method: join, join: planned, wave: wave}
	if f.method == auto {
		c.why = fmt.Sprintf("method join: a worker that holds the graph of %s edges takes %d MiB or more, --memory is %d", progress.Count(size.Edges), least(need), f.memory)
	}
	return c, nil
}

// least is the fewest MiB that hold what is needed.
func least(need budget.Need) int64 {
	_, err := need.Divide(0, 1, 1)
	var small *budget.TooSmall
	errors.As(err, &small)
	return small.Least / budget.MiB
}

// workerNeeds states, for each of distances.Widths, what a worker takes that holds the graph, which
// is not loaded for that.
func workerNeeds(ctx context.Context, e *command.Environment, m manifest.Manifest, size distances.Size, cores int) (map[int]budget.Need, error) {
	summary, err := graph.ReadSummary(ctx, e.Workspace.Graph())
	if err != nil {
		return nil, err
	}
	names := int64(0)
	for _, f := range m.Files {
		switch f.Name {
		case kg.EntitiesFile, kg.RelationsFile, kg.InferenceEntitiesFile:
			names += f.Size
		}
	}
	needs := map[int]budget.Need{}
	for _, words := range distances.Widths {
		needs[words] = distances.WorkerNeed(size, distances.LoadedMemory(summary, names), cores, words)
	}
	return needs, nil
}

// params are those of a join, but for what a plan chooses, and the size of what is searched.
func (f *flags) params(e *command.Environment, m manifest.Manifest, sources, queries int) (distances.JoinParams, distances.Size, error) {
	entities := kg.EntitiesOf(m, f.split)
	p := Params(m, sources, distances.SearchParams{
		Graph: e.Workspace.Graph(), Split: f.split, Hops: f.hops, Folder: e.Workspace.Distances(f.split),
		Memory: f.memory * budget.MiB, Kernel: f.kernel,
	})
	edges := m.Rows["edges"]
	if inference, ok := m.Rows["inference_edges"]; ok && f.split == "test" {
		edges = inference
	}
	if len(p.Edges) == 0 || entities < 1 {
		return p, distances.Size{}, fmt.Errorf("%s has no edges for --split %s: %s makes it anew", p.Graph, f.split, e.Workspace.Command("go run ./pipelines/preprocess --force"))
	}
	return p, distances.Size{
		Entities: int64(entities), Edges: edges, Sources: int64(sources), Queries: int64(queries), EdgeShards: len(p.Edges),
	}, nil
}
