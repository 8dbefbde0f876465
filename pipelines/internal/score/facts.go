package score

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/metrics"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/discovery"
	"tagnet/model/ranking"
	"tagnet/model/workload"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/relationgraph"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/discover"
	"tagnet/stages/graph"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

// factsFlags are the flags that ask for a list of new facts.
type factsFlags struct {
	facts     string
	most      int
	threshold float64
	unreached bool
}

// mostFacts is the most facts of a list, which memory holds.
const mostFacts = 10_000_000

func (f *factsFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.facts, "facts", "", "`R,S|all`: list the new facts of these relations instead: both directions are queried for all --sources and --candidates, each fact is listed once, the most probable first")
	set.IntVar(&f.most, "most", 10_000, "facts that --facts lists at most, 1 or more")
	set.Float64Var(&f.threshold, "threshold", 0, "lowest `probability` of a fact that --facts lists; 0 or more, less than 1")
	set.BoolVar(&f.unreached, "unreached", false, "let --facts list facts between entities that no path connects, too")
}

// check checks the flags of --facts, and that the others go with them.
func (f *factsFlags) check(all *flags, e *command.Environment) error {
	if f.facts == "" {
		var err error
		e.Flags.Visit(func(given *flag.Flag) {
			if slices.Contains([]string{"most", "threshold", "unreached"}, given.Name) {
				err = command.Usage("--%s needs --facts", given.Name)
			}
		})
		return err
	}
	switch {
	case all.relation != "" || all.queries != "":
		return command.Usage("--facts excludes --relation and --queries: it asks all of them itself")
	case f.most < 1 || f.most > mostFacts:
		return command.FlagError("most", f.most, fmt.Sprintf("1 to %d", mostFacts))
	case !(f.threshold >= 0 && f.threshold < 1):
		return command.FlagError("threshold", f.threshold, "0 or more, less than 1")
	}
	return nil
}

// recordedFacts decides the content of a list, besides what recorded has.
type recordedFacts struct {
	recorded
	Facts     string  `json:"facts"`
	Most      int     `json:"most"`
	Threshold float64 `json:"threshold,omitempty"`
	Unreached bool    `json:"unreached,omitempty"`
}

// pass is a set of queries whose answers are candidates for the list, or for the model of probabilities.
type pass struct {
	name, split string
	relations   []int32
	lists       tables.Lists
	edges       *relationgraph.Table
	queries     int64
}

// discovering is one run of the command that lists new facts.
type discovering struct {
	*scoring
	relations []int32
	passes    []pass
	// fitted is the split whose graph has the validation facts that probabilities are fitted to, or "".
	fitted   string
	recorded recordedFacts
	folder   string
}

// discover lists the new facts of --facts.
func (a *scoring) discover(ctx context.Context) error {
	d := &discovering{scoring: a}
	if err := d.read(ctx); err != nil {
		return err
	}
	if err := d.divide(ctx); err != nil {
		return err
	}
	stage := d.stage(ctx)
	done, err := stage.Begin(ctx, a.e.Force)
	err = a.nameModels(ctx, err)
	if mismatch := new(workspace.Mismatch); errors.As(err, &mismatch) && len(mismatch.Differences) > 0 {
		return fmt.Errorf("%w; or --output NAME to keep both", err)
	}
	if err != nil {
		return err
	}
	if !done {
		if err := d.make(ctx, &stage); err != nil {
			worker.Stop() // no file appears after the folder is cleared
			stage.Abandon(!command.Local())
			return err
		}
	}
	return d.show(ctx, !done)
}

// read reads the relations and the lists, and decides on the queries.
func (d *discovering) read(ctx context.Context) error {
	view := d.view
	r := d.scoring.recorded()
	r.TopK, r.Missing = d.best, d.missing
	d.recorded = recordedFacts{recorded: r, Most: d.most, Threshold: d.threshold, Unreached: d.unreached}
	heads, record, err := d.list(ctx, "sources", d.sources, view)
	if err != nil {
		return err
	}
	d.recorded.Sources = record
	tails, record, err := d.list(ctx, "candidates", d.candidates, view)
	if err != nil {
		return err
	}
	d.recorded.Candidates = record
	ids, record, err := d.askedRelations(ctx, "facts", d.facts)
	if err != nil {
		return err
	}
	base := int32(len(d.loaded.Relations))
	for _, id := range ids {
		if id >= base {
			return command.Usage("--facts: a list has no direction: leave out the ~")
		}
	}
	d.relations, d.recorded.Facts = ids, record
	d.ask(heads, tails)
	if err := d.chooseFitted(ctx); err != nil {
		return err
	}
	if d.fitted == "" && d.threshold != 0 {
		return command.Usage("--threshold is about probabilities, but these relations have fewer than %d validation facts to fit them to: leave them out, or preprocess with more, as --split 90,5,5 does of one file", discovery.MinTrue)
	}
	name := d.output
	if name == "" {
		name = d.derivedName("facts", d.facts)
	}
	d.folder = d.e.Workspace.EvaluationFolder(name)
	return nil
}

// ask makes the passes that ask for the facts between two lists of entities; nil is all.
func (d *discovering) ask(heads, tails []int32) {
	inverse := make([]int32, len(d.relations))
	for i, r := range d.relations {
		inverse[i] = r + int32(len(d.loaded.Relations))
	}
	if heads == nil && tails == nil {
		d.passes = []pass{{name: "candidates", relations: slices.Concat(d.relations, inverse)}}
	} else {
		d.passes = []pass{
			{name: "tails", relations: d.relations, lists: tables.Lists{Sources: heads, Candidates: tails}},
			{name: "heads", relations: inverse, lists: tables.Lists{Sources: tails, Candidates: heads}},
		}
	}
	for i := range d.passes {
		p := &d.passes[i]
		p.split, p.edges = d.about(), d.edges
		sources := len(d.view.Entities)
		if p.lists.Sources != nil {
			sources = len(p.lists.Sources)
		}
		p.queries = int64(sources) * int64(len(p.relations))
		d.distinct += p.queries
	}
	d.e.Say("queries: %s (relations: %s, in both directions)", progress.Count(d.distinct), progress.Count(int64(len(d.relations))))
}

// chooseFitted decides what probabilities are fitted to: the validation facts of the graph of the list, or else those of
// the training graph, which then has queries too.
func (d *discovering) chooseFitted(ctx context.Context) error {
	for _, split := range []string{d.about(), "valid"} {
		held, _, err := discovery.Counts(ctx, d.loaded, split, d.relations)
		if err != nil {
			return err
		}
		if held < discovery.MinTrue {
			continue
		}
		d.fitted = split
		if d.loaded.Of(split) == d.view {
			d.fitted = d.about()
			return nil
		}
		fit := pass{name: "fit", split: split, relations: slices.Concat(d.relations, nil), edges: d.edges}
		for _, r := range d.relations {
			fit.relations = append(fit.relations, r+int32(len(d.loaded.Relations)))
		}
		fit.queries = int64(len(d.loaded.Of(split).Entities)) * int64(len(fit.relations))
		d.distinct += fit.queries
		d.e.Say("queries to fit probabilities to, on the training graph: %s", progress.Count(fit.queries))
		if d.edges != nil {
			fit.edges, err = relationgraph.Open(ctx, d.e, d.model.Configuration, d.loaded, d.inputs, split, d.memory)
		}
		d.passes = append(d.passes, fit)
		return err
	}
	return nil
}

// divide plans the memory and the time.
func (d *discovering) divide(ctx context.Context) error {
	for i, p := range d.passes {
		sizes, err := graph.SizesOf(ctx, d.loaded, p.split)
		if err != nil {
			return err
		}
		if sizes.RelationEdges, err = p.edges.Edges(ctx); err != nil {
			return err
		}
		sizes.Queries = p.queries
		c := d.model.Configuration
		seconds, bound := d.e.Workspace.ScoreSeconds(ctx, sizes, c, p.split, p.queries)
		d.cost.Seconds, d.cost.AtMost = d.cost.Seconds+seconds, d.cost.AtMost || bound
		estimate := budget.Discover(sizes, c, d.best, workload.MaxRows, int64(len(p.lists.Sources)+len(p.lists.Candidates)), int64(len(p.relations)), int64(d.most))
		if i == 0 { // the graph of the list, whose facts are explained
			estimate = d.divideExplanations(ctx, sizes, estimate)
		}
		plan, err := d.e.Plan(estimate, d.memory, d.threads)
		if err != nil {
			return err
		}
		if d.plan.MaxThreads == 0 || plan.MaxThreads < d.plan.MaxThreads {
			d.plan = plan
		}
	}
	return nil
}

// stage returns the stage of the list.
func (d *discovering) stage(context.Context) workspace.Stage {
	d.placeWeights(d.folder, &d.recorded.recorded)
	s := workspace.Stage{
		Workspace: d.e.Workspace, Name: "score", Folder: d.folder, Configuration: d.recorded,
		Inputs: d.inputs, Vocabulary: d.loaded.Vocabulary, Command: d.e.Again(),
		Outputs: append([]string{metrics.DiscoveryFile, discover.Text, discover.Table + "/"}, d.explanationOutputs()...),
	}
	s.Ready = d.e.Ready(command.Work{
		Jobs: d.jobs, Memory: d.memory, Count: d.distinct, Unit: "queries", Loads: d.loads(), Cost: d.cost,
	})
	for _, p := range d.passes {
		s.Ready = p.edges.Ready(s.Ready)
	}
	return s
}

// jobs returns the pipelines of a list, in their order.
func (d *discovering) jobs() ([]*beam.Pipeline, error) {
	var jobs []*beam.Pipeline
	for _, p := range d.passes {
		before, err := p.edges.Jobs()
		if err != nil {
			return nil, err
		}
		jobs = append(append(jobs, before...), BuildCandidates(d.candidatesParams(p, lock.Lock{}, "")))
	}
	if d.fitted != "" {
		jobs = append(jobs, BuildFit(d.fitParams(lock.Lock{})))
	}
	return append(jobs, BuildList(d.listParams(lock.Lock{}))), nil
}

// BuildCandidates returns the Beam pipeline that scores queries and writes candidates.
func BuildCandidates(p discover.Params) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	discover.Candidates(scope, p)
	return pipeline
}

// BuildFit returns the Beam pipeline that fits the model of probabilities.
func BuildFit(p discover.MergeParams) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	discover.Fit(scope, p)
	return pipeline
}

// BuildList returns the Beam pipeline that writes the list.
func BuildList(p discover.ListParams) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	discover.List(scope, p)
	return pipeline
}

// loads returns what the steps work on.
func (d *discovering) loads() []command.Load {
	var loads []command.Load
	candidates := int64(0)
	for _, p := range d.passes {
		rows := p.queries * int64(1+d.best)
		candidates += rows
		work := workload.Work(d.model.Configuration, d.loaded.Of(p.split).Graph)
		loads = append(loads, command.Load{
			Step: "discover.candidates", Elements: p.queries, Unit: "queries", Parts: workload.Count(p.queries, rows, work), Bytes: discovery.CandidateBytes * rows,
		})
	}
	loads = append(loads, command.Load{Step: "discover.select", Elements: candidates, Unit: "candidates", Parts: discover.Ranges})
	return append(loads, d.explanationLoads("discover.explain", discover.Explained(int64(d.most), d.kept()))...)
}

// candidatesParams returns the parameters of a pass.
func (d *discovering) candidatesParams(p pass, held lock.Lock, announce string) discover.Params {
	w := d.e.Workspace
	view := d.loaded.Of(p.split)
	out := discover.Params{
		Queries: workload.Params{
			Graph: w.Graph(), Without: d.loaded.Unknown, Split: p.split, Best: d.best, Work: workload.Work(d.model.Configuration, view.Graph),
			Ask: workload.Ask{Relations: p.relations},
		},
		Model:  d.modelParams(p),
		Folder: w.Path(d.folder), Name: p.name, Lock: held, Unreached: d.unreached,
	}
	out.Model.Announce = announce
	if p.lists.Sources != nil {
		out.Queries.Ask.Lists = d.listsURL(p)
	}
	if p.lists.Candidates != nil {
		out.Model.Candidates = d.listsURL(p)
	}
	return out
}

// modelParams returns the parameters of the model of a pass.
func (d *discovering) modelParams(p pass) score.Params {
	return score.Params{
		Graph: d.e.Workspace.Graph(), Without: d.loaded.Unknown, Split: p.split, Checkpoints: string(d.model.Folder), Checkpoint: d.model.Record.Name(),
		Best: d.best, Known: ranking.Beside, Threads: d.threads, MostThreads: d.plan.MaxThreads, Memory: d.memory * budget.MiB,
		Kernel: d.e.Variant(d.kernel), Device: d.device, RelationGraph: p.edges.URL(), Reach: d.model.Configuration.Reach,
	}
}

// listsURL returns the URL of the lists of a pass.
func (d *discovering) listsURL(p pass) string {
	return storage.Join(d.e.Workspace.Path(d.folder), p.name+"-"+listsFile)
}

// fitParams returns the parameters of the pipeline that fits.
func (d *discovering) fitParams(held lock.Lock) discover.MergeParams {
	w := d.e.Workspace
	p := discover.MergeParams{Graph: w.Graph(), Without: d.loaded.Unknown, Split: d.fitted, Folder: w.Path(d.folder), Relations: d.relations, Lock: held}
	for _, pass := range d.passes {
		if pass.split == d.fitted {
			p.Indexes = append(p.Indexes, pass.name)
		}
	}
	return p
}

// listParams returns the parameters of the pipeline that lists.
func (d *discovering) listParams(held lock.Lock) discover.ListParams {
	w := d.e.Workspace
	p := discover.ListParams{
		MergeParams: discover.MergeParams{Graph: w.Graph(), Without: d.loaded.Unknown, Split: d.about(), Folder: w.Path(d.folder), Relations: d.relations, Lock: held},
		Checkpoint:  d.model.Record.Name(), TopK: d.best, Most: d.most, Least: d.threshold, Missing: d.missing,
		Model: d.modelParams(d.passes[0]),
	}
	p.Model.Paths, p.Model.Walks = d.kept(), d.walks
	for _, pass := range d.passes {
		if pass.split == d.about() {
			p.Indexes = append(p.Indexes, pass.name)
		}
	}
	return p
}

// make runs the pipelines and completes the folder.
func (d *discovering) make(ctx context.Context, stage *workspace.Stage) error {
	guarded := stage.Lock().Guard(ctx)
	if err := d.writeWeights(ctx, stage.Lock()); err != nil {
		return err
	}
	defer budget.Limit(d.memory * budget.MiB)()
	for _, p := range d.passes {
		if p.lists.Sources != nil || p.lists.Candidates != nil {
			if err := tables.WriteLists(guarded, d.listsURL(p), p.lists); err != nil {
				return err
			}
		}
		if err := p.edges.Make(ctx); err != nil {
			return err
		}
		if err := d.scorePass(ctx, p, stage.Lock()); err != nil {
			return err
		}
	}
	worker.Forget("model") // memory need not hold what scored
	if err := d.merge(ctx, stage.Lock()); err != nil {
		return err
	}
	if err := d.removeCandidates(guarded); err != nil {
		return err
	}
	return stage.Publish(ctx, map[string]int64{"queries": d.distinct})
}

// merge makes the list of what the passes wrote.
func (d *discovering) merge(ctx context.Context, held lock.Lock) error {
	bar := d.e.Progress.Begin("merging", discover.Ranges, "ranges")
	defer bar.End()
	defer d.followExplanations(ctx, bar)()
	worker.Start()
	if d.fitted != "" {
		if err := d.e.RunBeam(ctx, BuildFit(d.fitParams(held))); err != nil {
			return err
		}
	}
	if err := d.e.RunBeam(ctx, BuildList(d.listParams(held))); err != nil {
		return err
	}
	bar.Set(discover.Ranges)
	return nil
}

// scorePass scores the queries of a pass.
func (d *discovering) scorePass(ctx context.Context, p pass, held lock.Lock) error {
	title := "scoring"
	if p.name == "fit" {
		title = "scoring to fit probabilities"
	}
	bar := d.e.Progress.Begin(title, p.queries, "queries")
	defer bar.End()
	defer bar.Follow(ctx, score.RowsCounter)()
	announce, release := worker.Register(func(text string) { d.e.Progress.Print("%s", text) })
	defer release()
	worker.Start()
	if err := d.e.RunBeam(ctx, BuildCandidates(d.candidatesParams(p, held, announce))); err != nil {
		return err
	}
	bar.Set(p.queries)
	return nil
}

// removeCandidates removes the files that are needed only to make the list.
func (d *discovering) removeCandidates(ctx context.Context) error {
	for _, p := range d.passes {
		urls, err := discover.Spills(ctx, d.e.Workspace.Path(d.folder), p.name)
		if err != nil {
			return err
		}
		for _, url := range urls {
			if err := storage.Remove(ctx, url); err != nil {
				return err
			}
		}
	}
	return nil
}
