package score

import (
	"context"
	"errors"
	"flag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model"
	"tagnet/model/accelerator"
	"tagnet/model/budget"
	"tagnet/model/device"
	"tagnet/model/explanation"
	"tagnet/model/workload"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/discover"
	"tagnet/stages/explain"
	"tagnet/stages/worker"
)

// explanationFlags are the flags that ask why.
type explanationFlags struct {
	explained, walks bool
	paths            int
}

const (
	pathsShown = 3  // by default, below an answer
	pathsKept  = 10 // in the files, or as many as are shown
	mostPaths  = 1000
)

func (f *explanationFlags) register(set *flag.FlagSet) {
	set.BoolVar(&f.explained, "explain", false, "also say why: for each answer to your own queries, or fact of a list, the paths that carried most of its score")
	set.BoolVar(&f.walks, "walks", false, "with --explain, take the best of all walks for paths: also those that visit an entity twice, or differ from a better one in inverse facts only")
	set.IntVar(&f.paths, "paths", pathsShown, "paths that --explain prints for each answer, 1 to 1000; the files have the best 10, or so many if that is more")
}

// choice returns what is recorded of the choice of paths, "" without explanations.
func (f *explanationFlags) choice() string {
	switch {
	case !f.explained:
		return ""
	case f.walks:
		return "walks"
	}
	return "simple"
}

// kept returns the number of paths of an answer in the files, 0 without explanations.
func (f *explanationFlags) kept() int {
	if !f.explained {
		return 0
	}
	return max(pathsKept, f.paths)
}

func (f *flags) checkExplanations() error {
	switch {
	case f.explained && f.queries == "" && f.relation == "" && f.facts == "":
		return command.Usage("--explain needs --queries, --relation or --facts: it explains the answers to your own queries, and facts of a list")
	case f.walks && !f.explained:
		return command.Usage("--walks needs --explain")
	case f.paths < 1 || f.paths > mostPaths:
		return command.FlagError("paths", f.paths, "1 to 1000")
	}
	return nil
}

// explanationOutputs returns the outputs of --explain in the folder of answers.
func (a *scoring) explanationOutputs() []string {
	if !a.explained {
		return nil
	}
	return []string{explain.Text, explain.Table + "/"}
}

// answersToExplain returns about how many answers there will be, or facts.
func (a *scoring) answersToExplain() int64 {
	if a.facts != "" {
		return int64(a.most)
	}
	return a.distinct * min(int64(a.best), int64(a.loaded.Of(a.split).Graph.Entities))
}

// divideExplanations plans the memory of --explain, and adds to the cost.
func (a *scoring) divideExplanations(ctx context.Context, sizes budget.Sizes) error {
	if !a.explained {
		return nil
	}
	c := a.model.Configuration
	// An explanation propagates forward and backward over what the answer depends on: up to ten times as long as scoring.
	seconds, _ := a.e.Workspace.ScoreSeconds(ctx, sizes, c, a.split, 10*a.answersToExplain())
	a.cost.Seconds, a.cost.AtMost = a.cost.Seconds+seconds, true
	rows := min(a.answersToExplain()*int64(a.kept()), explain.MaxRows+int64(a.kept()))
	var err error
	a.explanationPlan, err = a.e.Plan(budget.Explain(sizes, c, a.kept(), int(rows)), a.memory, a.threads)
	return err
}

// explanationLoads returns what the steps of --explain work on. A path of a few steps takes about 60 bytes on WN18RR_v1.
func (a *scoring) explanationLoads() []command.Load {
	if !a.explained {
		return nil
	}
	const bytesPerPath = 60
	answers, parts := a.answersToExplain(), workload.Count(a.distinct, a.distinct*int64(1+a.best), a.work())
	if a.facts != "" {
		parts = 1 + answers/discover.RowsPerPart
	}
	return []command.Load{{
		Step: "explain.explain", Elements: answers, Unit: "answers",
		Parts: parts * int64(a.slices()), Bytes: bytesPerPath * answers * int64(a.kept()),
	}}
}

// slices returns how many slices the explanations of a part of predictions, or of a list, are cut into.
func (a *scoring) slices() int {
	rows := int64(workload.MaxRows)
	if a.facts != "" {
		rows = discover.RowsPerPart
	}
	return explain.Slices(min(a.answersToExplain(), rows), a.kept())
}

// withExplanations returns the pipelines of a folder: the one that scores, and that of --explain.
func (a *scoring) withExplanations(scoring *beam.Pipeline, folder string) []*beam.Pipeline {
	if !a.explained {
		return []*beam.Pipeline{scoring}
	}
	return []*beam.Pipeline{scoring, BuildExplanations(a.explanationParams(folder, lock.Lock{}))}
}

// BuildExplanations returns the Beam pipeline that explains.
func BuildExplanations(p explain.Params) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	explain.Explain(scope, p)
	return pipeline
}

func (a *scoring) explanationParams(folder string, held lock.Lock) explain.Params {
	w := a.e.Workspace
	return explain.Params{
		Graph: w.Graph(), Without: a.loaded.Unknown, Split: a.split, Checkpoints: string(a.model.Folder), Checkpoint: a.model.Record.Name(),
		RelationGraph: a.edges.URL(), Reach: a.model.Configuration.Reach, Folder: w.Path(folder), Facts: a.facts != "", Paths: a.kept(), Walks: a.walks, Slices: a.slices(),
		Threads: a.threads, MostThreads: a.explanationPlan.MaxThreads, Memory: a.memory * budget.MiB, Kernel: a.e.Variant(a.kernel),
		Lock: held,
	}
}

// explain explains the answers of a stage's folder, with --explain.
func (a *scoring) explain(ctx context.Context, stage *workspace.Stage) error {
	if !a.explained {
		return nil
	}
	if a.usesDevice() {
		a.e.Say("explaining on the CPU: devices compute no explanations")
	}
	worker.Forget("model") // memory need not hold what scored
	answers := a.answersToExplain()
	bar := a.e.Progress.Begin("explaining", answers, "answers")
	defer bar.End()
	defer bar.Follow(ctx, explain.AnswersCounter)()
	worker.Start()
	before := worker.Counted(explain.AnswersCounter)
	if err := a.e.RunBeam(ctx, BuildExplanations(a.explanationParams(stage.Folder, stage.Lock()))); err != nil {
		return err
	}
	if command.Local() { // queries that are short of answers make them fewer, known answers of --relation more
		answers = worker.Counted(explain.AnswersCounter) - before
	}
	bar.Set(answers)
	return nil
}

// usesDevice reports whether scores are computed on a device, or may be, on the workers of another machine.
func (a *opened) usesDevice() bool {
	if a.device.Mode == device.CPU || !command.Local() {
		return a.device.Mode != device.CPU
	}
	selected, err := accelerator.Select(accelerator.Process, a.device, a.model.Configuration.Within(a.loaded.Of(a.split).Graph.Entities))
	return err == nil && selected.Accelerator() != nil
}

// shownPaths returns the first paths to the predictions that are printed, which are the first of the table.
func (a *scoring) shownPaths(ctx context.Context, folder string, predictions []parquet.Prediction) (map[pathsOf][]parquet.Explanation, error) {
	if !a.explained {
		return nil, nil
	}
	queries := map[int64]bool{}
	for _, p := range predictions {
		queries[p.Query] = true
	}
	shown := map[pathsOf][]parquet.Explanation{}
	enough := errors.New("the paths that are printed are read")
	err := parquet.EachPart(ctx, storage.Join(folder, explain.Table), func(rows []parquet.Explanation) error {
		for _, r := range rows {
			if !queries[r.Query] {
				return enough
			}
			if key := (pathsOf{r.Query, r.Entity}); len(shown[key]) < a.paths {
				shown[key] = append(shown[key], r)
			}
		}
		return nil
	})
	if err != nil && err != enough {
		return nil, err
	}
	return shown, nil
}

// pathsOf is an answer to a query.
type pathsOf struct {
	query  int64
	entity string
}

// showPaths prints the paths below an answer.
func (a *scoring) showPaths(paths []parquet.Explanation) {
	for _, r := range paths {
		a.e.Say("        %6s  %s", model.FormatWeight(r.Weight), names.Escape(r.Text))
	}
}

// showExplanations prints what the weights are, and the outputs.
func (a *scoring) showExplanations(made bool, folder string) {
	if a.explained {
		a.e.Outputs(made, storage.Join(folder, explain.Text), storage.Join(folder, explain.Table))
	}
}

// sayWeights prints once what the weights of paths are.
func (a *scoring) sayWeights() {
	if a.explained {
		a.e.Say("\n%s", explanation.Weights(a.model.Configuration))
	}
}
