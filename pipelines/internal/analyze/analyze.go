package analyze

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"tagnet/formats/counts"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/messages"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/workspace"
)

// flags are the pipeline's flags and the lists that they give.
type flags struct {
	dataset, inference, onBadLine string
	splits, layers, deltas        string
	splitList                     []string
	layerList, deltaList          []int
	memory                        int64
}

// Pipeline is go run ./pipelines/analyze.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "analyze",
		Summary: "Analyses a dataset as the paper does: degrees, distances of answers, messages that truncation saves and prunes. Runs preprocess, distances, messages and report where needed. Needs no model.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.dataset, "dataset", "", "`folder|file|name`: the facts, or the name of a dataset; without it the workspace's graph, or if there is none a small built-in sample")
			set.StringVar(&f.inference, "inference", "", "`folder|name`: the inference graph, whose test.txt has the test queries (inductive setting)")
			command.Choice(set, &f.onBadLine, "on_bad_line", preprocess.OnBadLine[0], preprocess.OnBadLine, "what preprocess does with a line that is not a fact, or whose relation is in no training fact")
			set.StringVar(&f.splits, "splits", strings.Join(kg.Splits, ","), "`list` of splits to analyze; without the flag, those that have queries")
			set.StringVar(&f.layers, "layers", "6", "`list` of numbers of layers, such as 5,6; each 1 to 14")
			set.StringVar(&f.deltas, "deltas", "0,1,2,3,4,5", "`list` of deltas, each 0 or more")
			command.Memory(set, &f.memory)
		},
		Run:     f.run,
		Several: true,
		Plan:    f.plan,
	}
}

// settings are the flags that decide, with the inputs, the content of analysis/.
type settings struct {
	Splits []string `json:"splits"`
	Layers []int    `json:"layers"`
	Deltas []int    `json:"deltas"`
}

func (f *flags) check() error {
	f.splitList = nil
	for split := range strings.SplitSeq(f.splits, ",") {
		split = strings.TrimSpace(split)
		if !slices.Contains(kg.Splits, split) {
			return command.FlagError("splits", fmt.Sprintf("%q", split), "one of "+strings.Join(kg.Splits, ", "))
		}
		if slices.Contains(f.splitList, split) {
			return command.FlagError("splits", fmt.Sprintf("%q", f.splits), fmt.Sprintf("each split once, %s is repeated", split))
		}
		f.splitList = append(f.splitList, split)
	}
	if f.dataset == "" && f.inference != "" {
		return command.Usage("--inference is %q without --dataset: an inference graph needs a training graph; give --dataset too", f.inference)
	}
	var err error
	if f.layerList, err = command.Numbers("layers", f.layers, 1, configuration.MaxLayers); err != nil {
		return err
	}
	if f.deltaList, err = command.Numbers("deltas", f.deltas, 0, messages.MostDelta); err != nil {
		return err
	}
	return command.CheckMemory(f.memory)
}

func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := e.NotEmpty("a folder, or a dataset's name", "dataset", "inference"); err != nil {
		return err
	}
	if err := f.checkReplaced(ctx, e); err != nil {
		return err
	}
	if err := f.preprocess(ctx, e); err != nil {
		return err
	}
	if err := f.chooseSplits(ctx, e); err != nil {
		return err
	}
	steps, err := f.allSteps(ctx, e)
	if err != nil {
		return err
	}
	if err := f.checkMemory(ctx, e, steps, nil); err != nil {
		return err
	}
	e.Say("")
	changed := false
	for _, step := range steps {
		made, err := step.run(ctx, e)
		if err != nil {
			return err
		}
		changed = changed || made
	}
	made, err := f.analyze(ctx, e)
	if err != nil {
		return err
	}
	page, err := f.page(ctx, e, changed || made)
	if err != nil {
		return err
	}
	return f.describe(ctx, e, made, page)
}

// plan prints the plans of the commands that would run, as far as the graph that they read exists.
func (f *flags) plan(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.preprocess(ctx, e); err != nil {
		return err
	}
	if !e.Workspace.Complete(ctx, workspace.GraphFolder) {
		e.Say("distances and messages of each split follow; their plans need the graph")
		return nil
	}
	if err := f.chooseSplits(ctx, e); err != nil {
		return err
	}
	steps, err := f.allSteps(ctx, e)
	if err != nil {
		return err
	}
	for _, step := range steps {
		e.Say("\n%s:", e.Workspace.Path(step.folder))
		if _, err := step.run(ctx, e); err != nil {
			return err
		}
	}
	e.Say("")
	return nil
}

// preprocess makes the graph of --dataset. Without that flag it uses the graph of the workspace, or if
// there is none that of the built-in sample.
func (f *flags) preprocess(ctx context.Context, e *command.Environment) error {
	w := e.Workspace
	if f.dataset == "" {
		if _, err := manifest.Read(ctx, w.Graph()); !errors.Is(err, fs.ErrNotExist) {
			if _, err := w.Require(ctx, workspace.GraphFolder, w.Command("preprocess")); err != nil {
				return err
			}
			e.Say("no --dataset: analyzing the graph in %s", w.Graph())
			return nil
		}
	}
	arguments := []string{"--workspace", w.Root(), "--seed", fmt.Sprint(e.Seed), "--on_bad_line", f.onBadLine}
	arguments = append(arguments, f.budget()...)
	if f.dataset != "" {
		arguments = append(arguments, "--dataset", f.dataset)
	}
	if f.inference != "" {
		arguments = append(arguments, "--inference", f.inference)
	}
	if e.Force {
		arguments = append(arguments, "--force")
	}
	return e.Embed(ctx, preprocess.Pipeline(), arguments...)
}

// budget returns the --memory flag for the other pipelines, nothing if it is the default.
func (f *flags) budget() []string {
	if f.memory == budget.Default {
		return nil
	}
	return []string{"--memory", fmt.Sprint(f.memory)}
}

// chooseSplits leaves out splits without queries, unless --splits names them.
func (f *flags) chooseSplits(ctx context.Context, e *command.Environment) error {
	s, err := counts.ReadDataset(ctx, e.Workspace.Graph())
	if err != nil {
		return err
	}
	named := false
	e.Flags.Visit(func(given *flag.Flag) { named = named || given.Name == "splits" })
	if named {
		return nil // the pipeline distances reports the empty file
	}
	f.splitList = slices.DeleteFunc(f.splitList, func(split string) bool {
		if s.Queries[split] > 0 {
			return false
		}
		e.Say("left out: the %s split, which has no queries", split)
		return true
	})
	return nil
}

// quiet returns an environment that prints no output: analyze prints the tables of all pipelines at the
// end.
func quiet(e *command.Environment) *command.Environment {
	silent := *e
	silent.Out = io.Discard
	return &silent
}

// pageURL returns the URL of the report.
func pageURL(w workspace.Workspace) string { return storage.Join(w.Report(), "index.html") }

// page makes the report if its data changed or there is none, and reports whether it did.
func (f *flags) page(ctx context.Context, e *command.Environment, changed bool) (bool, error) {
	if !changed {
		exists, err := storage.Exists(ctx, pageURL(e.Workspace))
		if err != nil || exists {
			return false, err
		}
	}
	return true, quiet(e).Embed(ctx, report.Pipeline(), "--workspace", e.Workspace.Root())
}
