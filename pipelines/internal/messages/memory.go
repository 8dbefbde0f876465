package messages

import (
	"context"
	"runtime"

	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/model/multisource"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
	"tagnet/stages/messages"
)

// params are those of counting within --memory: so many threads, each of which searches as many
// sources at once as the budget holds. A budget that is too small is a mistake in the flags.
func (f *flags) params(ctx context.Context, e *command.Environment, loaded *kg.KG, model *messages.AStarParams, sources, queries int) (messages.CountParams, error) {
	p := messages.CountParams{
		Graph: e.Workspace.Graph(), Split: f.split, Layers: f.layerList, Deltas: f.deltaList, Remove: f.remove,
		Folder: e.Workspace.Messages(f.split), AStar: model, Kernel: f.kernel, Memory: f.memory * budget.MiB,
	}
	s, err := graph.ReadSummary(ctx, p.Graph)
	if err != nil {
		return p, err
	}
	g, cores := loaded.Of(f.split).Graph, runtime.GOMAXPROCS(0)
	needs := map[int]budget.Need{}
	for _, words := range distances.Widths {
		needs[words] = p.Need(g, loaded.Memory(queries), messages.Size{Sources: int64(sources), Questions: s.Distinct[f.split]}, words)
	}
	chosen := distances.Widest(needs, p.Memory, cores)
	share, err := e.Divide(needs[chosen.Words], f.memory, 0)
	if err != nil {
		return p, err
	}
	p.Threads, p.PerThread = share.Most, multisource.Memory(g.Entities, chosen.Words, p.Gather())
	if model != nil {
		model.Threads = share.Most
	}
	return p, nil
}
