package train

import (
	"context"
	"flag"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/kg"
	"tagnet/model/relations"
	"tagnet/model/synthetic"
	"tagnet/model/training"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/learn"
)

// graphs are the flags of a training on several graphs instead of that of the workspace.
type graphs struct {
	train, valid string
	exponent     float64
	madeShare    float64
	madeSteps    int
	steps        int
}

func (g *graphs) register(set *flag.FlagSet) {
	set.StringVar(&g.train, "graphs", "", "`list` of workspaces, separated by commas: one model of any graph is trained on their graphs in turns, instead of that of --workspace, which only gets the checkpoints; "+checkpoint.MadeGraphs+" stands for graphs that are made from random rules")
	set.StringVar(&g.valid, "validate_graphs", "", "`list` of workspaces whose validation facts choose the best epoch, by the mean of their metrics; with --graphs")
	set.Float64Var(&g.exponent, "graph_exponent", .5, "a step takes a graph in proportion to its number of facts to this power, 0 to 10; with --graphs")
	set.Float64Var(&g.madeShare, "made_share", .25, "share of the steps on made graphs, more than 0, less than 1, where --graphs has "+checkpoint.MadeGraphs+" beside others")
	set.IntVar(&g.madeSteps, "made_steps", 25, "steps on a made graph before the next one is made, 1 or more")
	set.IntVar(&g.steps, "epoch_steps", 1000, "steps of an epoch, 1 or more; with --graphs")
}

// several reports whether there is a list of graphs.
func (g *graphs) several() bool { return g.train != "" }

// check validates the flags beside the others. The configuration is known.
func (g *graphs) check(f *flags, e *command.Environment) error {
	if err := e.NotEmpty("a list of workspaces", "graphs", "validate_graphs"); err != nil {
		return err
	}
	if !g.several() {
		var alone error
		e.Flags.Visit(func(f *flag.Flag) {
			if slices.Contains([]string{"validate_graphs", "graph_exponent", "made_share", "made_steps", "epoch_steps"}, f.Name) {
				alone = command.Usage("--%s is for a training on several graphs: add --graphs", f.Name)
			}
		})
		return alone
	}
	switch {
	case !f.configuration.Transfers():
		return command.Usage("--graphs: in this model parameters belong to the relations of one graph; add --preset zero or --relations graph")
	case f.origin.from != "":
		return command.Usage("--graphs with --from: a training on several graphs begins with initial weights; leave one of the two out")
	case f.configuration.QueriesPerEpoch > 0:
		return command.Usage("--graphs with --queries_per_epoch %d: an epoch of several graphs has --epoch_steps steps; leave --queries_per_epoch out", f.configuration.QueriesPerEpoch)
	case f.rounds.Workers > 1:
		return command.Usage("--graphs with --workers %d: one worker trains on several graphs; leave --workers out", f.rounds.Workers)
	case f.device.Mode == device.CUDA:
		return command.Usage("--graphs with --device %v: a training on several graphs computes on the CPU; use --device cpu", f.device)
	case !(g.exponent >= 0 && g.exponent <= 10): // larger powers of numbers of facts overflow
		return command.FlagError("graph_exponent", g.exponent, "0 to 10")
	case !(g.madeShare > 0 && g.madeShare < 1):
		return command.FlagError("made_share", g.madeShare, "more than 0, less than 1")
	case g.madeSteps < 1:
		return command.FlagError("made_steps", g.madeSteps, "1 or more")
	case g.steps < 1:
		return command.FlagError("epoch_steps", g.steps, "1 or more")
	case g.valid == "" && f.validation.Patience > 0:
		return command.Usage("--patience is %d, and there is nothing to validate on: add --validate_graphs, or leave it out", f.validation.Patience)
	}
	f.device = device.Choice{Mode: device.CPU}
	return nil
}

// list splits a list of workspaces, whose last names differ. Made graphs are left out of it.
func list(flag, text string) (workspaces []string, made bool, err error) {
	named := map[string]string{} // entries by the names of their graphs
	for _, entry := range strings.Split(text, ",") {
		entry = strings.TrimSpace(entry)
		root := storage.Join(entry)
		name := storage.Base(root)
		switch other, taken := named[name]; {
		case entry == "":
			return nil, false, command.Usage("--%s: %q has an empty entry", flag, text)
		case slices.Contains(workspaces, root) || entry == checkpoint.MadeGraphs && made:
			return nil, false, command.Usage("--%s: %s stands twice", flag, entry)
		case taken:
			return nil, false, command.Usage("--%s: the graphs of %s and %s would both be named %s in what is printed and recorded: rename one of the two folders", flag, other, entry, name)
		case entry == checkpoint.MadeGraphs:
			made = true
		default:
			workspaces = append(workspaces, root)
		}
		named[name] = entry
	}
	return workspaces, made, nil
}

// checkMade returns an error for a flag of made graphs that decides nothing.
func checkMade(e *command.Environment, made, others bool) (err error) {
	e.Flags.Visit(func(f *flag.Flag) {
		switch {
		case f.Name != "made_share" && f.Name != "made_steps":
		case !made:
			err = command.Usage("--%s is for made graphs: add %s to --graphs, or leave it out", f.Name, checkpoint.MadeGraphs)
		case !others && f.Name == "made_share":
			err = command.Usage("--made_share: all graphs of --graphs are made: leave it out")
		}
	})
	return err
}

// openGraphs is open for several graphs.
func (f *flags) openGraphs(ctx context.Context, e *command.Environment) (*trainer, error) {
	m := &learn.Mixture{Description: checkpoint.Mixture{Exponent: f.graphs.exponent, Steps: f.graphs.steps}}
	d := &m.Description
	trained, made, err := list("graphs", f.graphs.train)
	if err != nil {
		return nil, err
	}
	if err := checkMade(e, made, len(trained) > 0); err != nil {
		return nil, err
	}
	if made {
		d.Made = &checkpoint.Made{Share: f.graphs.madeShare, Steps: f.graphs.madeSteps, Options: synthetic.Default}
		if len(trained) == 0 {
			d.Made.Share = 1
		}
	}
	var sizes, trials []budget.Sizes
	for _, root := range trained {
		loaded, size, err := f.openGraph(ctx, root, "train")
		if err != nil {
			return nil, err
		}
		seen, err := training.SeenIn(ctx, storage.Base(root), loaded, "train")
		if err != nil {
			return nil, err
		}
		if seen.Facts == 0 {
			return nil, command.Usage("--graphs: %s has no training facts; leave it out", root)
		}
		e.Say("graph %s: %s entities, %s relations, %s training facts", seen.Name, progress.Count(int64(seen.Entities)), progress.Count(int64(seen.Relations)), progress.Count(seen.Facts))
		d.Graphs, m.Graphs, sizes = append(d.Graphs, seen), append(m.Graphs, workspace.New(root).Graph()), append(sizes, size)
	}
	if f.graphs.valid == "" {
		e.Say("there are no --validate_graphs: the last epoch will count as the best")
	} else if trials, err = f.openTrials(ctx, m); err != nil {
		return nil, err
	}
	if f.memoryPlan, err = e.Plan(budget.Mixture(sizes, trials, f.configuration), f.memory, f.replicas); err != nil {
		return nil, err
	}
	t := f.newTrainer(e)
	t.mixture = m
	for _, g := range d.Graphs {
		t.facts += g.Facts
	}
	t.stage.Configuration = t.recorded()
	t.stage.Ready = t.ready(ctx, f.graphs.queriesOf(f.configuration), command.Cost{})
	return t, nil
}

// openGraph opens the graph of a workspace and returns the sizes of it with the queries of a split.
func (f *flags) openGraph(ctx context.Context, root, split string) (*kg.KG, budget.Sizes, error) {
	loaded, _, err := workspace.New(root).OpenGraph(ctx)
	if err != nil {
		return nil, budget.Sizes{}, err
	}
	size, err := loaded.Sizes(ctx, split)
	if err == nil {
		const counting = 8 * budget.MiB // of memory
		size.RelationEdges = relations.CountEdges(loaded.Of(split).Graph, counting)
	}
	return loaded, size, err
}

// openTrials adds the graphs of --validate_graphs to a mixture and returns their sizes.
func (f *flags) openTrials(ctx context.Context, m *learn.Mixture) (trials []budget.Sizes, err error) {
	validated, made, err := list("validate_graphs", f.graphs.valid)
	if err != nil {
		return nil, err
	}
	if made {
		return nil, command.Usage("--validate_graphs: graphs that are made have no workspace; go run ./infra/generate --rules makes one")
	}
	for _, root := range validated {
		loaded, size, err := f.openGraph(ctx, root, "valid")
		if err != nil {
			return nil, err
		}
		seen, err := training.SeenIn(ctx, storage.Base(root), loaded, "valid")
		if err != nil {
			return nil, err
		}
		if seen.Queries == 0 {
			return nil, command.Usage("--validate_graphs: %s has no validation facts; leave it out, or preprocess it with a valid.txt or --split", root)
		}
		m.Description.Valid = append(m.Description.Valid, seen)
		m.Valid, trials = append(m.Valid, workspace.New(root).Graph()), append(trials, size)
	}
	return trials, nil
}

// queriesOf returns about how many queries an epoch has.
func (g *graphs) queriesOf(c configuration.Configuration) int64 {
	return int64(g.steps) * int64(c.BatchSize)
}
