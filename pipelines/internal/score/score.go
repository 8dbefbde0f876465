package score

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/bundle"
	"tagnet/stages/evaluate"
	"tagnet/stages/graph"
	"tagnet/stages/score"
)

type flags struct {
	split, checkpoint, queries, kernel string
	best, threads                      int
	memory                             int64
}

// Pipeline is go run ./pipelines/score.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "score",
		Summary: "Asks a trained model: ranks the answers of a split's queries, or answers your own questions with --queries.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.split, "split", "test", "`train|valid|test`: whose queries are asked; with --queries, whose graph")
			set.StringVar(&f.checkpoint, "checkpoint", "best", "best, last, an epoch's number, or the `path` of a checkpoint")
			set.IntVar(&f.best, "top_k", 10, "best candidates kept for each question")
			set.StringVar(&f.queries, "queries", "", "`file` of questions to answer instead: source TAB relation in a line; a leading ~ on the relation asks the other way round")
			set.IntVar(&f.threads, "threads", 0, "threads of a worker, 0 for one a core if --memory holds them; changes no result")
			command.Kernel(set, &f.kernel, "variant of the kernels")
			command.Memory(set, &f.memory)
		},
		Run: f.run,
	}
}

func (f *flags) check() error {
	if err := command.OneOf("split", f.split, workspace.Splits...); err != nil {
		return err
	}
	if err := command.CheckKernel(f.kernel); err != nil {
		return err
	}
	switch {
	case f.checkpoint == "":
		return command.FlagError("checkpoint", `""`, "best, last, an epoch's number, or a path")
	case f.best < 0 || f.queries != "" && f.best == 0:
		return command.FlagError("top_k", f.best, "1 or more (0 or more without --queries)")
	case f.threads < 0 || f.threads > command.MostThreads:
		return command.FlagError("threads", f.threads, fmt.Sprintf("0 to %d", command.MostThreads))
	}
	return command.CheckMemory(f.memory)
}

// recorded is what decides the content of an evaluation, besides the graph.
type recorded struct {
	Split      string `json:"split"`
	Checkpoint string `json:"checkpoint"`
	// Weights is the SHA-256 of the checkpoint's weights, Queries that of the questions.
	Weights string `json:"weights"`
	Queries string `json:"queries,omitempty"`
	TopK    int    `json:"top_k"`
}

// asking is one run: which model is asked, about what.
type asking struct {
	*flags
	e         *command.Environment
	loaded    *kg.KG
	inputs    map[string]string
	distances string // the folder of tables made before, if there is one
	model     workspace.Model
	questions questions   // of --queries
	plan      budget.Plan // what --memory allows
}

func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := e.NotEmpty("a file of questions", "queries"); err != nil {
		return err
	}
	a := &asking{flags: f, e: e}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	if f.queries != "" {
		return a.answer(ctx)
	}
	return a.evaluate(ctx)
}

// prepare checks all that is read, before anything is built.
func (a *asking) prepare(ctx context.Context) error {
	w := a.e.Workspace
	var err error
	if a.loaded, a.inputs, err = w.OpenGraph(ctx); err != nil {
		return err
	}
	if a.distances, err = bundle.FindTables(ctx, w.Distances(a.split), a.inputs, w.Command("go run ./pipelines/distances --split "+a.split)); err != nil {
		return err
	}
	if a.model, err = w.OpenModel(ctx, a.checkpoint, a.loaded); err != nil {
		return err
	}
	if a.model.Remark != "" {
		a.e.Say("%s", a.model.Remark)
	}
	return nil
}

// evaluate ranks the answers of a split.
func (a *asking) evaluate(ctx context.Context) error {
	w := a.e.Workspace
	queries, err := a.loaded.Queries(ctx, a.split)
	if err != nil {
		return err
	}
	if len(queries) == 0 {
		return fmt.Errorf("--split %s has no queries: put facts into the dataset's %s.txt and preprocess again", a.split, a.split)
	}
	if err := a.divide(ctx, int64(len(queries))); err != nil {
		return err
	}
	stage := a.stage(workspace.EvaluationFolder(a.split), recorded{
		Split: a.split, Checkpoint: a.model.Record.Name(), Weights: a.model.Record.Weights.SHA256, TopK: a.best,
	})
	done, err := stage.Begin(ctx, a.e.Force)
	if err != nil {
		return err
	}
	if done {
		a.e.Say("%s is complete with the same configuration; --force scores anew", w.Evaluation(a.split))
		return a.showMetrics(ctx, false)
	}
	if err := a.score(ctx, &stage, "", int64(len(queries))); err != nil {
		return err
	}
	return a.showMetrics(ctx, true)
}

// divide plans the memory of scoring so many queries.
func (a *asking) divide(ctx context.Context, queries int64) error {
	sizes, err := graph.Sizes(ctx, a.e.Workspace.Graph(), a.loaded.Manifest, a.split)
	if err != nil {
		return err
	}
	sizes.Queries = queries
	a.plan, err = a.e.Plan(budget.Score(sizes, a.model.Record.Configuration, a.best), a.memory, a.threads)
	return err
}

func (a *asking) stage(folder string, r recorded) workspace.Stage {
	return workspace.Stage{
		Workspace: a.e.Workspace, Name: "score", Folder: folder, Configuration: r,
		Inputs: a.inputs, Vocabulary: a.loaded.Vocabulary, Command: a.e.Again(),
	}
}

// score runs the Beam pipeline and completes the folder. table is the URL of the questions to
// ask instead of the split's.
func (a *asking) score(ctx context.Context, stage *workspace.Stage, table string, queries int64) error {
	w := a.e.Workspace
	c := a.model.Record.Configuration
	delta := c.Delta
	if !c.Windowed() {
		delta = -1
	}
	defer budget.Limit(a.memory * budget.MiB)()
	bar := a.e.Progress.Begin("scoring", queries, "queries")
	defer bar.End()
	defer bar.Follow(ctx, score.QueriesCounter)()
	pipeline := Build(
		bundle.Params{
			Graph: w.Graph(), Split: a.split, Queries: table, Distances: a.distances,
			Hops: c.Layers, Balance: true, Delta: delta, Bundles: bundles, Memory: a.plan.BundleBytes, Threads: a.threads,
		},
		score.Params{
			Graph: w.Graph(), Split: a.split, Checkpoints: string(a.model.Folder), Checkpoint: a.model.Record.Name(),
			Best: a.best, Threads: a.threads, MostThreads: a.plan.MaxThreads, Memory: a.memory * budget.MiB, Kernel: a.kernel,
		},
		evaluate.Params{
			Graph: w.Graph(), Split: a.split, Folder: w.Path(stage.Folder), Checkpoint: a.model.Record.Name(), Questions: table != "",
		})
	if _, err := a.e.RunBeam(ctx, pipeline); err != nil {
		stage.Abandon(!command.Local())
		return err
	}
	bar.Set(queries)
	return stage.Publish(ctx, map[string]int64{"queries": queries})
}

// bundles is how many bundles there are at least: enough that several machines have work to
// the end.
const bundles = 64

// Build makes the Beam pipeline that bundles, scores and writes.
func Build(b bundle.Params, s score.Params, e evaluate.Params) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	evaluate.Write(scope, e, score.Score(scope, s, bundle.Bundles(scope, b)))
	return pipeline
}

// showMetrics prints the metrics of the split, what is there, whether it was made now, and what
// comes next.
func (a *asking) showMetrics(ctx context.Context, made bool) error {
	w := a.e.Workspace
	folder := w.Evaluation(a.split)
	text, err := storage.ReadFile(ctx, storage.Join(folder, evaluate.MetricsFile))
	if err != nil {
		return err
	}
	var m evaluate.Metrics
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("reading %s: %w", storage.Join(folder, evaluate.MetricsFile), err)
	}
	a.print(m)
	for _, file := range []string{evaluate.MetricsFile, evaluate.RankingsFile, evaluate.PredictionsFile} {
		a.e.Outputs(made, storage.Join(folder, file))
	}
	a.e.Next("go run ./pipelines/report")
	return nil
}
