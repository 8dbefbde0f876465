package score

import (
	"cmp"
	"context"
	"flag"
	"fmt"

	"tagnet/formats/lock"
	"tagnet/model/accelerator"
	"tagnet/model/kernel"
	"tagnet/model/ranker"
	"tagnet/model/ranking"
	"tagnet/model/ultra"
	"tagnet/model/workload"
	"tagnet/pipelines/internal/command"
	stage "tagnet/stages/relationgraph"
	"tagnet/stages/worker"
)

// radiusFlag bounds the messages of models that score with a ground.
type radiusFlag struct{ radius int }

func (f *radiusFlag) register(set *flag.FlagSet) {
	set.IntVar(&f.radius, "radius", 0, fmt.Sprintf("with ULTRA's weights, and those of train --relations graph --policy full --aggregate sum, entities farther than so many edges from the source are scored as if it did not exist, 1 to %d or the number of layers; 0 is all: exact; zero and others with a window take none", ultra.Layers))
}

// checkRadius returns an error for a radius that does not fit the model.
func (a *opened) checkRadius() error {
	c := a.model.Record.Configuration
	whole := c
	whole.Reach = 0
	switch {
	case a.radius > 0 && c.Reach > 0 && whole.HasGround():
		return command.Usage("--radius with a reach of %d: both bound the messages of a query; leave one of the two out, a reach of training by --reach 0", c.Reach)
	case a.radius > 0 && !c.HasGround():
		return command.Usage("--radius is for ULTRA's weights, and those of train --relations graph --policy full --aggregate sum; messages of %s are bounded as in its training, by --policy %s and --delta %d: leave it out",
			cmp.Or(a.weightsFlags.model, a.model.Record.Name()), c.Policy, c.Delta)
	case a.radius < 0 || a.radius > c.Layers:
		return command.FlagError("radius", a.radius, fmt.Sprintf("0 to %d", c.Layers))
	case a.radius == c.Layers:
		a.radius = 0 // exact
	}
	return nil
}

// sayRadiusLoss prints what --radius costs on a sample of the queries.
func (a *scoring) sayRadiusLoss(ctx context.Context, folder string) error {
	if a.radius == 0 {
		return nil
	}
	const sampled = 128
	p := a.params(folder, lock.Lock{}, "")
	queries, err := workload.Sample(ctx, a.loaded, p.Queries, sampled)
	if err != nil {
		return err
	}
	_, weights, err := worker.Weights(ctx, a.model.Folder, a.model.Record.Name(), a.loaded)
	if err != nil {
		return err
	}
	k, err := kernel.Named(p.Model.Kernel)
	if err != nil {
		return err
	}
	relations, err := stage.Load(ctx, a.edges.URL(), a.loaded)
	if err != nil {
		return err
	}
	model := ranker.Model{
		Graph: a.loaded.Of(a.split).Graph, Configuration: a.model.Record.Configuration, Parameters: weights, Relations: relations, Radius: a.radius,
	}
	list := ranking.Selection{K: a.best, Known: p.Model.Known, Candidates: a.asked.candidates()}
	means := ranker.Means{Kernel: k, Threads: a.plan.Threads, Device: new(accelerator.Selection)}
	loss, err := ranker.LossOf(ctx, model, list, means, queries)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("--radius %d is an approximation: of a sample of %d queries it sends %.0f%% of the messages", a.radius, loss.Queries, 100*loss.Messages)
	if loss.Answers > 0 {
		text += fmt.Sprintf(", MRR %.4f instead of %.4f", loss.MRR, loss.Exact)
	}
	if a.best > 0 {
		text += fmt.Sprintf(", and %.1f%% of the %d best answers are the same", 100*loss.Best, a.best)
	}
	a.e.Say("%s", text)
	return nil
}

// candidates returns the only entities that may be answers, nil for all.
func (q *asking) candidates() []int32 {
	if q == nil {
		return nil
	}
	return q.lists.Candidates
}
