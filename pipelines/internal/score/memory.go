package score

import (
	"context"

	"tagnet/model/budget"
	"tagnet/model/optimizer"
	"tagnet/stages/bundle"
	"tagnet/stages/evaluate"
	"tagnet/stages/score"
)

// need states what a worker takes that scores that many queries.
func (a *asking) need(ctx context.Context, queries int64) (budget.Need, error) {
	known, err := a.loaded.Of(a.split).Answers(ctx)
	if err != nil {
		return budget.Need{}, err
	}
	g, c := a.loaded.Of(a.split).Graph, a.model.Record.Configuration
	shared, thread := score.Memory(g, c, a.best)
	return budget.Need{
		Fixed: []budget.Part{
			{Name: "graph", Bytes: a.loaded.Memory(int(queries), known) + bundle.Memory(int(queries), g.Entities, 1)},
			// The checkpoint is there once as it is read, beside the parameters it fills.
			{Name: "weights", Bytes: 8*optimizer.Parameters(g, c) + shared},
			{Name: "answers", Bytes: evaluate.Memory(int(queries), a.best)},
		},
		Thread: thread + bundle.Memory(0, g.Entities, 1),
	}, nil
}
