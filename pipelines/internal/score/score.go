package score

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/engine/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/pipelines/internal/relationgraph"
	"tagnet/stages/evaluate"
	"tagnet/stages/preprocess"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // the devices of --device

type flags struct {
	split, checkpoint, kernel string
	askFlags
	device        device.Choice
	best, threads int
	memory        int64
	limit         int64
	protocolFlag
	weightsFlags
	reach int
	bundlesFlag
	explanationFlags
	factsFlags
}

// Pipeline returns the score command.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "score",
		Summary: "Scores with a trained model: ranks the answers of a split's queries, answers your own with --queries or --relation, or lists new facts with --facts.",
		Flags: func(set *flag.FlagSet) {
			command.Choice(set, &f.split, "split", "test", kg.Splits, "the split whose queries are ranked")
			f.protocolFlag.register(set)
			set.Int64Var(&f.limit, "limit", 0, "most queries of a split that are ranked, spread evenly over all: its metrics come with 95% intervals; 0 or more, 0 takes all")
			set.StringVar(&f.checkpoint, "checkpoint", "best", "best, last, an epoch's number, or the `path` of a checkpoint")
			f.weightsFlags.register(set)
			command.ReachFlag(set, &f.reach)
			f.bundlesFlag.register(set)
			set.IntVar(&f.best, "top_k", 10, "best answers kept for each query; 1 or more, or 0 for a split")
			f.askFlags.register(set)
			set.IntVar(&f.threads, "threads", 0, fmt.Sprintf("threads of a worker, up to %d; 0 is one per core, fewer if --memory is too small for them; changes no result", command.MostThreads))
			command.Kernel(set, &f.kernel, "variant of the kernels")
			command.Device(set, &f.device)
			f.explanationFlags.register(set)
			f.factsFlags.register(set)
			command.Memory(set, &f.memory)
		},
		Run: f.run,
	}
}

func (f *flags) check() error {
	if err := f.checkProtocol(); err != nil {
		return err
	}
	if err := command.CheckKernel(f.kernel); err != nil {
		return err
	}
	switch {
	case f.limit < 0:
		return command.FlagError("limit", f.limit, "0 or more")
	case f.limit > 0 && f.asks():
		return command.Usage("--limit is for the queries of a split: leave it out with --queries, --relation and --facts")
	case f.checkpoint == "":
		return command.FlagError("checkpoint", `""`, "best, last, an epoch's number, or a path")
	case f.best < 0 || f.asks() && f.best == 0:
		return command.FlagError("top_k", f.best, "1 or more (0 or more for a split)")
	case f.threads < 0 || f.threads > command.MostThreads:
		return command.FlagError("threads", f.threads, fmt.Sprintf("0 to %d", command.MostThreads))
	}
	if err := f.checkExplanations(); err != nil {
		return err
	}
	return command.CheckMemory(f.memory)
}

// recorded decides the content of an evaluation, besides the graph.
type recorded struct {
	Split string `json:"split,omitempty"`
	// Graph is --graph, of answers.
	Graph string `json:"graph,omitempty"`
	// Protocol is that of --protocol, empty for the usual one, and Negatives the number of random entities that it draws.
	Protocol  metrics.Protocol `json:"protocol,omitempty"`
	Negatives int              `json:"negatives,omitempty"`
	// Limit is the number of queries of a sample, 0 for all.
	Limit      int64  `json:"limit,omitempty"`
	Checkpoint string `json:"checkpoint"`
	// Weights is the SHA-256 of the checkpoint's weights, Queries that of the file of queries.
	Weights string `json:"weights"`
	Queries string `json:"queries,omitempty"`
	// Relations, Sources and Candidates are the flags of the same names: names, and types or hashes of lists; nothing stands
	// for all entities.
	Relations  string `json:"relation,omitempty"`
	Sources    string `json:"sources,omitempty"`
	Candidates string `json:"candidates,omitempty"`
	Known      bool   `json:"known,omitempty"`
	TopK       int    `json:"top_k"`
	// Reach is configuration.Configuration.Reach, as in training or of --reach.
	Reach int `json:"reach,omitempty"`
	// Given is the model of --model, or nil.
	Given *checkpoint.Origin `json:"given,omitempty"`
	// From is the file that the checkpoint was trained from if its weights belong to no relations, nil with --model.
	From *checkpoint.Origin `json:"from,omitempty"`
	// Predictions is the version of the columns of a split's predictions, Answers that of answers, Triples that of given triples or pairs.
	Predictions string `json:"predictions_version,omitempty"`
	Answers     string `json:"answers_version,omitempty"`
	Triples     string `json:"triples_version,omitempty"`
	// Probabilities is the checksum of their file, nothing as long as none are fitted, and Missing what they presume.
	Probabilities string  `json:"probabilities,omitempty"`
	Missing       float64 `json:"missing,omitempty"`
	// Paths is the number of paths of an explanation, 0 without.
	Paths int `json:"paths,omitempty"`
	// PathChoice says among what: simple, or walks.
	PathChoice string `json:"path_choice,omitempty"`
}

// opened is what a run of the command scores with: the graph, the model and its probabilities.
type opened struct {
	*flags
	e      *command.Environment
	loaded *kg.KG
	view   *kg.View // of the graph that is queried
	inputs map[string]string
	model  *answer.Model
	given  bool                 // the model is that of --model, whose checkpoint is written beside the results
	edges  *relationgraph.Table // between relations, or nil
	fit    *probabilities.Fit   // nil without probabilities
}

// scoring is one run of the command: a split is evaluated, or queries are answered.
type scoring struct {
	*opened
	asked    *asking     // nil for a split
	plan     budget.Plan // of --memory
	distinct int64       // distinct queries
	all      int64       // queries of the split, of which --limit takes some
	cost     command.Cost
}

func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.askFlags.check(f, e); err != nil {
		return err
	}
	if err := f.weightsFlags.check(e); err != nil {
		return err
	}
	if err := f.factsFlags.check(f, e); err != nil {
		return err
	}
	if err := f.checkBundles(); err != nil {
		return err
	}
	a := &scoring{opened: &opened{flags: f, e: e}}
	if err := a.open(ctx); err != nil {
		return err
	}
	if f.facts != "" {
		return a.discover(ctx)
	}
	if f.queries != "" || f.relation != "" {
		return a.answer(ctx)
	}
	return a.evaluate(ctx)
}

// open checks the inputs, before anything is written.
func (a *opened) open(ctx context.Context) error {
	var err error
	open := a.e.Workspace.OpenGraph
	if a.bundles {
		open = a.e.Workspace.OpenOutline
	}
	if a.loaded, a.inputs, err = open(ctx); err != nil {
		return err
	}
	if a.view, err = a.loaded.On(ctx, a.about()); err != nil {
		return err
	}
	a.best = min(a.best, a.view.Graph.Entities)
	if err := a.e.ChooseModel(ctx, &a.weightsFlags.model); err != nil {
		return err
	}
	if a.bundles && a.weightsFlags.model != "" {
		return command.Usage("--bundles: there is no trained model, and %s needs the graph: train with --reach first, or leave --bundles out", a.weightsFlags.model)
	}
	openModel := a.openCheckpoint
	if a.weightsFlags.model != "" {
		openModel = a.openModel
	}
	if err := openModel(ctx); err != nil {
		return err
	}
	if err := command.SetReach(&a.model.Configuration, a.reach); err != nil {
		return err
	}
	if err := a.openBundles(ctx); err != nil {
		return err
	}
	if a.view, err = a.loaded.On(ctx, a.about()); err != nil { // perhaps without the facts of some relations
		return err
	}
	if a.edges, err = relationgraph.Open(ctx, a.e, a.model.Configuration, a.loaded, a.inputs, a.about(), a.memory); err != nil {
		return err
	}
	if err := accelerator.Check(a.device, a.model.Configuration, command.Local()); err != nil {
		return fmt.Errorf("--device %v: %w", a.device, err)
	}
	return a.openProbabilities(ctx)
}

// openCheckpoint opens the model of --checkpoint.
func (a *opened) openCheckpoint(ctx context.Context) error {
	var err error
	if a.model, err = a.e.OpenCheckpoint(ctx, a.checkpoint, a.loaded); err != nil {
		return err
	}
	a.loaded = a.model.KG
	reachable, err := a.e.Reachable("checkpoint", string(a.model.Folder))
	if err != nil {
		return err
	}
	a.model.Folder = checkpoint.Folder(reachable)
	return nil
}

// evaluate ranks the answers of a split, or of what --protocol asks.
func (a *scoring) evaluate(ctx context.Context) error {
	w := a.e.Workspace
	queries, err := a.evaluated(ctx)
	if err != nil {
		return err
	}
	if err := a.divide(ctx, queries); err != nil {
		return err
	}
	r := a.recorded()
	r.Protocol, r.Negatives, r.Limit = a.evaluates(), a.evaluates().Negatives(), a.limit
	stage := a.stage(w.EvaluationFolder(a.name()), queries, r)
	stage.Seed = a.sampled()
	stage.Outputs = []string{metrics.File, evaluate.RankingsTable + "/", evaluate.PredictionsTable + "/"}
	done, err := stage.Begin(ctx, a.e.Force)
	if err != nil {
		return a.nameModels(ctx, err)
	}
	if done {
		a.e.Say("%s is complete with the same configuration; use --force to score again", w.Evaluation(a.name()))
		return a.showMetrics(ctx, false)
	}
	if err := a.score(ctx, &stage, queries); err != nil {
		return err
	}
	return a.showMetrics(ctx, true)
}

// divide plans the memory of scoring so many queries.
func (a *scoring) divide(ctx context.Context, queries int64) error {
	sizes, err := a.sizes(ctx)
	if err != nil {
		return err
	}
	sizes.Queries, sizes.OnDevice = queries, a.device.Mode == device.CUDA
	c := a.model.Configuration
	if a.asked != nil {
		a.distinct = a.asked.distinct
	}
	work := queries
	if a.asked != nil && a.triples() == nil {
		work += a.backward()
	}
	a.cost.Seconds, a.cost.AtMost = a.e.Workspace.ScoreSeconds(ctx, sizes, c, a.about(), work)
	a.cost.Seconds, a.cost.AtMost = a.cost.Seconds+a.fit.Seconds(), a.cost.AtMost || a.asked != nil
	estimate := budget.Score(sizes, c, a.best, workload.MaxRows).Comparing(sizes)
	if a.asked != nil {
		estimate = a.divideAnswers(sizes)
	}
	estimate = a.divideExplanations(ctx, sizes, estimate)
	if a.plan, err = a.e.Plan(estimate, a.memory, a.threads); err != nil {
		if a.canBundle() {
			err = command.OrBundles(err)
		}
	}
	return err
}

// sizes returns those of the graph that is queried.
func (a *opened) sizes(ctx context.Context) (budget.Sizes, error) {
	sizes, err := preprocess.SizesOf(ctx, a.loaded, a.about())
	if err != nil {
		return sizes, err
	}
	if a.edges == nil && a.model.Configuration.Source() == configuration.RelationsGraph { // that of all facts, which each worker makes
		const counting = 8 * budget.MiB // of memory, before the work begins
		sizes.RelationEdges = relations.CountEdges(a.view.Graph, counting)
		return sizes, nil
	}
	sizes.RelationEdges, err = a.edges.Edges(ctx)
	return sizes, err
}

// stage returns the stage of a folder.
func (a *scoring) stage(folder string, queries int64, r recorded) workspace.Stage {
	a.placeWeights(folder, &r)
	s := workspace.Stage{
		Workspace: a.e.Workspace, Name: "score", Folder: folder, Configuration: r,
		Inputs: a.inputs, Vocabulary: a.loaded.Vocabulary, Command: a.e.Again(),
	}
	s.Ready = a.edges.Ready(a.fit.Ready(a.e.Ready(command.Work{Jobs: func() ([]*beam.Pipeline, error) {
		return a.jobs(folder)
	}, Memory: a.memory, Count: queries, Unit: "queries", Loads: a.loads(queries), Cost: a.cost})))
	return s
}

// jobs returns the pipelines that a folder takes, in their order.
func (a *scoring) jobs(folder string) ([]*beam.Pipeline, error) {
	before, err := a.edges.Jobs()
	if err != nil {
		return nil, err
	}
	return append(slices.Concat(before, a.fit.Jobs()), a.pipeline(folder, lock.Lock{}, "")), nil
}

// loads returns what the steps work on. A row of rankings or predictions takes 14 bytes on WN18RR_v1.
func (a *scoring) loads(queries int64) []command.Load {
	const bytesPerRow = 14
	rows := queries + a.distinct*int64(a.best)
	scored := command.Load{
		Step: "evaluate.shard", Elements: a.distinct, Unit: "distinct queries",
		Parts: workload.Count(a.distinct, queries+a.distinct*int64(a.best*workload.AnswerRows(a.kept())), a.work()), Bytes: bytesPerRow * rows,
	}
	if t := a.triples(); t != nil {
		scored = t.load()
	} else if a.asked != nil {
		scored.Step, scored.Unit = "evaluate.queries", "distinct queries"
	}
	return slices.Concat(a.edges.Loads(), a.fit.Loads(), []command.Load{{Step: "score.cut", Elements: queries, Unit: "queries"}, scored}, a.explanationLoads(scored.Step, scored.Parts))
}

// score runs the Beam pipelines and completes the folder.
func (a *scoring) score(ctx context.Context, stage *workspace.Stage, queries int64) error {
	if err := a.writeWeights(ctx, stage.Lock()); err != nil {
		stage.Abandon(false)
		return err
	}
	err := a.edges.Make(ctx)
	if err == nil {
		err = a.makeProbabilities(ctx, stage)
	}
	defer budget.Limit(a.memory * budget.MiB)()
	if err == nil {
		err = a.rank(ctx, stage, queries)
	}
	if err != nil {
		worker.Stop() // no part of a table appears after the folder is cleared
		stage.Abandon(!command.Local())
		return err
	}
	return stage.Publish(ctx, map[string]int64{"queries": queries})
}

// rank runs the Beam pipeline that scores and explains.
func (a *scoring) rank(ctx context.Context, stage *workspace.Stage, queries int64) error {
	bar := a.e.Progress.Begin("scoring", queries, "queries")
	defer bar.End()
	defer bar.Follow(ctx, score.RowsCounter)()
	defer a.followBackward(ctx, bar)()
	defer a.followExplanations(ctx, bar)()
	announce, release := worker.Register(func(text string) { a.e.Progress.Print("%s", text) })
	defer release()
	worker.Start()
	if err := a.e.RunBeam(ctx, a.pipeline(stage.Folder, stage.Lock(), announce)); err != nil {
		return err
	}
	bar.Set(queries)
	return nil
}

// pipeline returns the Beam pipeline that writes a folder. announce is the id of a registered function
// that shows a worker's text.
func (a *scoring) pipeline(folder string, held lock.Lock, announce string) *beam.Pipeline {
	return Build(a.params(folder, held, announce))
}

func (a *scoring) params(folder string, held lock.Lock, announce string) evaluate.Params {
	w := a.e.Workspace
	p := evaluate.Params{
		Queries: workload.Params{
			Graph: w.Graph(), Without: a.loaded.Unknown, Split: a.about(), Parts: a.parts, Protocol: a.evaluates(), Seed: a.sampled(), Limit: a.limit, Work: a.work(), Best: a.best, Paths: a.kept(),
		},
		Model: score.Params{
			Graph: w.Graph(), Without: a.loaded.Unknown, Split: a.about(), Parts: a.parts, Checkpoints: string(a.model.Folder), Checkpoint: a.model.Record.Name(),
			Best: a.best, Threads: a.threads, MostThreads: a.plan.MaxThreads, Memory: a.memory * budget.MiB, Kernel: a.e.Variant(a.kernel),
			Device: a.device, Announce: announce, RelationGraph: a.edges.URL(), Reach: a.model.Configuration.Reach, Paths: a.kept(), Walks: a.walks,
		},
		All: a.all, Folder: w.Path(folder), Lock: held,
	}
	if a.asked != nil {
		a.asked.params(a, &p)
	}
	return p
}

// work returns the work of a query, and of explaining its answers.
func (a *scoring) work() float64 {
	work := workload.Work(a.model.Configuration, a.view.Graph)
	if a.relation != "" {
		work /= workload.Together
	}
	if a.explained {
		work *= float64(1 + workload.ExplanationWork*a.best)
	}
	return work
}

// Build returns the Beam pipeline that scores and writes.
func Build(p evaluate.Params) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	switch {
	case p.Queries.Given != workload.GivenQueries:
		evaluate.Triples(scope, p)
	case p.Queries.Queries != "" || len(p.Queries.Ask.Relations) > 0:
		evaluate.OwnQueries(scope, p)
	default:
		evaluate.Evaluate(scope, p)
	}
	return pipeline
}

// showMetrics prints the metrics of the split, the outputs, whether this run made them, and the next
// command.
func (a *scoring) showMetrics(ctx context.Context, made bool) error {
	w := a.e.Workspace
	folder := w.Evaluation(a.name())
	m, err := storage.ReadJSON[metrics.Evaluation](ctx, storage.Join(folder, metrics.File))
	if err != nil {
		return err
	}
	a.print(m)
	a.e.Outputs(made, storage.Join(folder, metrics.File), storage.Join(folder, evaluate.RankingsTable), storage.Join(folder, evaluate.PredictionsTable))
	a.next(a.e.Workspace.Command("report"))
	return nil
}
