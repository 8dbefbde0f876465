// Command zero trains one foundation model on the graphs of several workspaces and on graphs that are made from random
// rules, in turns: the model in the box is one.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	_ "tagnet/formats/storage/schemes" // workspaces may be gs:// URLs
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/internal/program"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
	"tagnet/model/learn"
	"tagnet/model/pretrained"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

func main() {
	os.Exit(program.Run("zero", "interrupted: the newest checkpoint is complete; the same command with --resume, and without --from, continues", run))
}

type options struct {
	workspace, preset, from, graphs, valid    string
	exponent, madeShare, madeClasses, minutes float64
	madeSteps, steps, threads                 int
	seed, limit                               int64
	kernel                                    string
	resume                                    bool
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("zero", flag.ContinueOnError)
	set.StringVar(&o.workspace, "workspace", "", "`folder` or URL that gets the checkpoints, in runs/main/checkpoints")
	set.StringVar(&o.preset, "preset", "zero", "`name|FILE.json` of the configuration")
	set.StringVar(&o.from, "from", "", "`weights` of any graph to start from, in place of random ones: zero, or the file of a checkpoint")
	set.StringVar(&o.graphs, "graphs", "", "`list` of workspaces to learn from, separated by commas; "+checkpoint.MadeGraphs+
		" stands for graphs that are made from random rules")
	set.StringVar(&o.valid, "validate_graphs", "", "`list` of workspaces whose validation facts choose the best epoch, by the mean of their metrics")
	set.Float64Var(&o.exponent, "graph_exponent", .5, "a step takes a graph in proportion to its number of facts to this power, 0 to 10")
	set.Float64Var(&o.madeShare, "made_share", .25, "share of the steps on made graphs, more than 0, less than 1, where there are others")
	set.Float64Var(&o.madeClasses, "made_classes", .5, "share of made graphs whose entities have hidden classes, 0 to 1")
	set.IntVar(&o.madeSteps, "made_steps", 5, "steps on a made graph before the next one is made, 1 or more")
	set.IntVar(&o.steps, "epoch_steps", 1000, "steps of an epoch, 1 or more")
	set.Int64Var(&o.limit, "valid_limit", 0, "most validation queries of a graph, spread evenly over all; 0 takes all")
	set.Int64Var(&o.seed, "seed", 0, "decides everything that is drawn at random")
	set.IntVar(&o.threads, "threads", 0, "threads; 0 is one per core; changes no result")
	set.StringVar(&o.kernel, "kernel", "auto", "variant of the kernels")
	set.Float64Var(&o.minutes, "checkpoint_minutes", 10, "longest time between checkpoints inside an epoch")
	set.BoolVar(&o.resume, "resume", false, "continue from the newest checkpoint of the same command")
	if err := program.Parse(set, "Trains one foundation model on several graphs, in turns.", arguments, diagnostics); err != nil {
		return o, err
	}
	if o.workspace == "" || o.graphs == "" {
		return o, program.Usage("--workspace and --graphs are needed")
	}
	switch {
	case !(o.exponent >= 0 && o.exponent <= 10): // larger powers of numbers of facts overflow
		return o, program.Usage("--graph_exponent is %g: want 0 to 10", o.exponent)
	case !(o.madeShare > 0 && o.madeShare < 1):
		return o, program.Usage("--made_share is %g: want more than 0 and less than 1", o.madeShare)
	case o.resume && o.from != "":
		return o, program.Usage("--from is where a training begins: leave it out with --resume, which continues from the newest checkpoint")
	case o.limit < 0:
		return o, program.Usage("--valid_limit is %d: want 0 or more", o.limit)
	case o.threads < 0:
		return o, program.Usage("--threads is %d: want 0 or more", o.threads)
	case !(o.minutes >= 0 && o.minutes <= 10):
		return o, program.Usage("--checkpoint_minutes is %g: want 0 to 10", o.minutes)
	}
	return o, nil
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	c, err := configuration.OpenPreset(ctx, o.preset)
	if err != nil {
		return program.Usage("--preset: %w", err)
	}
	if !c.Transfers() {
		return program.Usage("--preset %s: in this model parameters belong to the relations of one graph; relations have to be graph", o.preset)
	}
	folder := checkpoint.FolderOf(o.workspace, checkpoint.DefaultRun)
	records, _, err := folder.Records(ctx)
	if err != nil {
		return err
	}
	if len(records) > 0 && !o.resume {
		return program.Usage("%s has checkpoints: add --resume to continue, or name another --workspace", folder)
	}
	mixture, err := o.mixture(ctx, c)
	if err != nil {
		return err
	}
	held, err := lock.Acquire(ctx, string(folder), "go run ./infra/zero --workspace "+o.workspace, false)
	if err != nil {
		return err
	}
	defer func() { _ = held.Release(context.WithoutCancel(ctx)) }() // one that stays is of a process that has ended
	if o.from != "" {
		if err := o.writeOrigin(held.Guard(ctx), folder, c, mixture.Description); err != nil {
			return err
		}
	}
	_, err = learn.Train(ctx, learn.Run{
		Checkpoints: string(folder), Lock: held, History: storage.Join(o.workspace, checkpoint.RunFolder(checkpoint.DefaultRun), metrics.HistoryFile),
		Configuration: c, Seed: o.seed, Validation: o.validation(),
		Every: time.Duration(o.minutes * float64(time.Minute)), Threads: o.threads, Kernel: o.kernel,
	}, learn.Data{Mixture: mixture}, func(p learn.Progress) { show(out, p) })
	if err != nil {
		return err
	}
	best, err := folder.Record(ctx, checkpoint.BestFile)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "best: %s of %s\n", best.Name(), folder)
	return nil
}

// mixture opens the graphs.
func (o options) mixture(ctx context.Context, c configuration.Configuration) (*learn.Mixture, error) {
	m := &learn.Mixture{Description: checkpoint.Mixture{Exponent: o.exponent, Steps: o.steps}}
	trained, err := list("graphs", o.graphs)
	if err != nil {
		return nil, err
	}
	if at := slices.Index(trained, checkpoint.MadeGraphs); at >= 0 {
		trained = slices.Delete(trained, at, at+1)
		m.Description.Made = &checkpoint.Made{Share: o.madeShare, Steps: o.madeSteps, Options: synthetic.Default}
		m.Description.Made.Options.Classes = o.madeClasses
		if len(trained) == 0 {
			m.Description.Made.Share = 1
		}
	}
	for _, root := range trained {
		loaded, seen, err := open(ctx, root, "train")
		if err != nil {
			return nil, err
		}
		material, err := learn.TrainingGraphOf(ctx, loaded, c)
		if err != nil {
			return nil, fmt.Errorf("--graphs: %s: %w", root, err)
		}
		m.Description.Graphs, m.TrainingGraphs = append(m.Description.Graphs, seen), append(m.TrainingGraphs, material)
	}
	validated, err := list("validate_graphs", o.valid)
	if err != nil {
		return nil, err
	}
	for _, root := range validated {
		loaded, seen, err := open(ctx, root, "valid")
		if err != nil {
			return nil, err
		}
		validation, err := learn.ValidationGraphOf(ctx, seen.Name, loaded, o.limit, c)
		if err != nil {
			return nil, fmt.Errorf("--validate_graphs: %w", err)
		}
		m.Description.Valid, m.ValidationGraphs = append(m.Description.Valid, seen), append(m.ValidationGraphs, validation)
	}
	return m, m.Description.Check()
}

// writeOrigin writes the weights of --from as the checkpoint before the first step, from which the training resumes.
func (o options) writeOrigin(ctx context.Context, folder checkpoint.Folder, c configuration.Configuration, d checkpoint.Mixture) error {
	opened, err := pretrained.Ref{Name: o.from}.Open(ctx)
	if err != nil {
		return program.Usage("--from: %w", err)
	}
	if !reflect.DeepEqual(opened.Configuration(c), c) {
		return program.Usage("--from %s: its weights are of another model than --preset %s", o.from, o.preset)
	}
	weights, _, err := opened.Over(nil)
	if err != nil {
		return fmt.Errorf("--from %s: %w", o.from, err)
	}
	k, err := kernel.Named("portable") // it has nothing to compute
	if err != nil {
		return err
	}
	moments, _ := steps.NewSolver(c, 0, k).State()
	return folder.Save(ctx, checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion, Configuration: c, Mixture: &d, Origin: &opened.Origin,
		Seed: o.seed, Validation: o.validation(), Epoch: 1, Partial: &checkpoint.Partial{},
	}, weights.Tensors, moments)
}

// validation is how the best epoch is chosen.
func (o options) validation() metrics.Validation { return metrics.Validation{Every: 1, Limit: o.limit} }

// list splits a list of workspaces, whose last names differ: graphs are recorded by them.
func list(flag, text string) (roots []string, err error) {
	if text == "" {
		return nil, nil
	}
	var names []string
	for _, entry := range strings.Split(text, ",") {
		root := storage.Join(strings.TrimSpace(entry))
		if slices.Contains(names, storage.Base(root)) {
			return nil, program.Usage("--%s: two graphs would be named %s: rename one of the two folders", flag, storage.Base(root))
		}
		roots, names = append(roots, root), append(names, storage.Base(root))
	}
	return roots, nil
}

// open loads the graph of a workspace and describes the part of it that a split has.
func open(ctx context.Context, root, split string) (*kg.KG, checkpoint.Seen, error) {
	folder := storage.Join(root, kg.Folder)
	m, err := manifest.Read(ctx, folder)
	if err == nil {
		err = manifest.Verify(ctx, folder, m)
	}
	if err != nil {
		return nil, checkpoint.Seen{}, err
	}
	loaded, err := kg.Load(ctx, folder, m)
	if err != nil {
		return nil, checkpoint.Seen{}, err
	}
	seen, err := learn.DescribeTrainingData(ctx, storage.Base(root), loaded, split)
	return loaded, seen, err
}

// show prints a line for each epoch, with the loss of each graph and its validation metric.
func show(out io.Writer, p learn.Progress) {
	for _, text := range p.Damaged {
		fmt.Fprintf(out, "%s: skipped\n", text)
	}
	if p.Resumed != "" {
		fmt.Fprintf(out, "resuming from %s\n", p.Resumed)
	}
	e := p.Finished
	if e == nil {
		return
	}
	fmt.Fprintf(out, "epoch %d of %d: loss %.4f", e.Epoch, p.Epochs, e.Loss)
	for _, g := range e.Graphs {
		fmt.Fprintf(out, ", %s %.4f in %d steps", g.Name, g.Loss, g.Steps)
	}
	if e.Valid != nil {
		fmt.Fprintf(out, "; validation MRR %.4f", e.Valid.Selection().MRR)
	}
	for _, t := range e.Trials {
		fmt.Fprintf(out, ", %s %.4f", t.Name, t.Selection().MRR)
	}
	fmt.Fprintf(out, "; %.0f s\n", e.Seconds)
}
