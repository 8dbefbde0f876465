package score

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/ranking"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/discover"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

// factsFlags are the flags that ask for a list of new facts.
type factsFlags struct {
	facts     string
	most      int
	threshold float64
}

// mostFacts is the most facts of a list.
const mostFacts = 10_000_000

func (f *factsFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.facts, "facts", "", "`R,S|all`: list the new facts of these relations instead, the most probable first: the best answers of all --sources, of all --candidates, or without lists in both directions")
	set.IntVar(&f.most, "most", 10_000, "facts that --facts lists at most, 1 or more")
	set.Float64Var(&f.threshold, "threshold", 0, "lowest `probability` of a fact that --facts lists; 0 or more, less than 1")
}

// check checks the flags of --facts, and that the others go with them.
func (f *factsFlags) check(all *flags, e *command.Environment) error {
	if f.facts == "" {
		var err error
		e.Flags.Visit(func(given *flag.Flag) {
			if slices.Contains([]string{"most", "threshold"}, given.Name) {
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
	// Table is the version of the table's columns.
	Table string `json:"facts_version"`
}

// pass is a set of queries in one direction or both, whose best answers are candidates for the list.
type pass struct {
	name      string
	relations []int32
	lists     tables.Lists
	queries   int64
}

// backwardName names what is queried of the candidates of all passes.
const backwardName = "backward"

// discovering is one run of the command that lists new facts.
type discovering struct {
	*scoring
	relations []int32
	passes    []pass
	// backward is the most queries that are queried backward.
	backward int64
	recorded recordedFacts
	folder   string
	judged   score.Probabilities
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
	r, view := d.scoring.recorded(), d.view
	r.TopK = d.best
	d.recorded = recordedFacts{recorded: r, Most: d.most, Threshold: d.threshold, Table: parquet.FactsVersion}
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
	if err := d.findProbabilities(ctx); err != nil {
		return err
	}
	d.ask(heads, tails, int64(view.Graph.Entities))
	name := d.output
	if name == "" {
		name = d.derivedName("facts", d.facts)
	}
	d.folder = d.e.Workspace.EvaluationFolder(name)
	return nil
}

// ask makes the passes that ask for the facts between two lists of entities, of which nil is all, in a graph of so many. Where there is one list, its
// entities are queried; else both directions, so that neither side lacks its best facts where it has far more entities than the other.
func (d *discovering) ask(heads, tails []int32, entities int64) {
	inverse := make([]int32, len(d.relations))
	for i, r := range d.relations {
		inverse[i] = r + int32(len(d.loaded.Relations))
	}
	count := func(list []int32) int64 {
		if list == nil {
			return entities
		}
		return int64(len(list))
	}
	if heads == nil && tails == nil {
		d.passes = []pass{{name: "both", relations: slices.Concat(d.relations, inverse)}}
	}
	if heads != nil {
		d.passes = append(d.passes, pass{name: "tails", relations: d.relations, lists: tables.Lists{Sources: heads, Candidates: tails}})
	}
	if tails != nil {
		d.passes = append(d.passes, pass{name: "heads", relations: inverse, lists: tables.Lists{Sources: tails, Candidates: heads}})
	}
	for i := range d.passes {
		p := &d.passes[i]
		p.queries = count(p.lists.Sources) * int64(len(p.relations))
		d.distinct += p.queries
		answers := count(p.lists.Candidates)
		d.backward += min(answers*int64(len(p.relations)), p.queries*min(answers, int64(d.best)))
	}
	d.e.Say("queries: %s, and backward at most %s (relations: %s)", progress.Count(d.distinct), progress.Count(d.backward), progress.Count(int64(len(d.relations))))
}

// divide plans the memory and the time.
func (d *discovering) divide(ctx context.Context) error {
	sizes, err := d.sizes(ctx)
	if err != nil {
		return err
	}
	sizes.Queries, sizes.OnDevice = d.distinct+d.backward, d.device.Mode == device.CUDA
	c := d.model.Configuration
	d.cost.Seconds, _ = d.e.Workspace.ScoreSeconds(ctx, sizes, c, d.about(), sizes.Queries)
	d.cost.Seconds, d.cost.AtMost = d.cost.Seconds+d.fit.Seconds(), true
	listed := int64(0)
	for _, p := range d.passes {
		listed += int64(len(p.lists.Sources) + len(p.lists.Candidates))
	}
	estimate := budget.Discover(sizes, c, d.best, workload.MaxRows, listed, int64(d.most))
	d.plan, err = d.e.Plan(d.divideExplanations(ctx, sizes, estimate), d.memory, d.threads)
	return err
}

// stage returns the stage of the list.
func (d *discovering) stage(context.Context) workspace.Stage {
	d.placeWeights(d.folder, &d.recorded.recorded)
	s := workspace.Stage{
		Workspace: d.e.Workspace, Name: "score", Folder: d.folder, Configuration: d.recorded,
		Inputs: d.inputs, Vocabulary: d.loaded.Vocabulary, Command: d.e.Again(),
		Outputs: append([]string{metrics.DiscoveryFile, discover.Text, discover.Table + "/"}, d.explanationOutputs()...),
	}
	s.Ready = d.fit.Ready(d.edges.Ready(d.e.Ready(command.Work{
		Jobs: d.jobs, Memory: d.memory, Count: d.distinct, Unit: "queries", Loads: d.loads(), Cost: d.cost,
	})))
	return s
}

// jobs returns the pipelines of a list, in their order.
func (d *discovering) jobs() ([]*beam.Pipeline, error) {
	jobs, err := d.edges.Jobs()
	if err != nil {
		return nil, err
	}
	jobs = append(jobs, d.fit.Jobs()...)
	for _, p := range d.passes {
		jobs = append(jobs, BuildCandidates(d.candidatesParams(p, lock.Lock{}, "")))
	}
	return append(jobs, BuildBackward(d.backwardParams(lock.Lock{}, "")), BuildList(d.listParams(lock.Lock{}))), nil
}

// BuildCandidates returns the Beam pipeline that scores queries and writes candidates.
func BuildCandidates(p discover.CandidatesParams) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	discover.Candidates(scope, p)
	return pipeline
}

// BuildBackward returns the Beam pipeline that asks candidates backward.
func BuildBackward(p discover.BackwardParams) *beam.Pipeline {
	pipeline, scope := beam.NewPipelineWithRoot()
	discover.Backward(scope, p)
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
	loads := slices.Concat(d.edges.Loads(), d.fit.Loads())
	work := workload.Work(d.model.Configuration, d.view.Graph)
	candidates := int64(0)
	for _, p := range d.passes {
		rows := p.queries * int64(d.best)
		candidates += rows
		loads = append(loads, command.Load{
			Step: "discover.candidates", Elements: p.queries, Unit: "queries", Parts: workload.Count(p.queries, rows, work), Bytes: discovery.CandidateBytes * rows,
		})
	}
	loads = append(loads,
		command.Load{Step: "discover.backward", Elements: d.backward, Unit: "queries backward, at most", Parts: discover.Ranges, Bytes: externalsort.WideBytes * candidates},
		command.Load{Step: "discover.select", Elements: candidates, Unit: "candidates, at most", Parts: discover.Ranges})
	return append(loads, d.explanationLoads("discover.explain", discover.Explained(int64(d.most), d.kept()))...)
}

// place returns where the spill files are, until there is a list.
func (d *discovering) place(held lock.Lock) discover.Place {
	return discover.Place{Folder: storage.Join(d.e.Workspace.Path(d.folder), "candidates"), Lock: held}
}

// candidatesParams returns the parameters of a pass.
func (d *discovering) candidatesParams(p pass, held lock.Lock, announce string) discover.CandidatesParams {
	out := discover.CandidatesParams{
		Queries: workload.Params{
			Graph: d.e.Workspace.Graph(), Without: d.loaded.Unknown, Split: d.about(), Best: d.best, Ask: workload.Ask{Relations: p.relations},
			Work: workload.Work(d.model.Configuration, d.view.Graph),
		},
		Model: d.modelParams(announce), Place: d.place(held), Name: p.name,
	}
	out.Model.Best, out.Model.Known, out.Model.Ranks = d.best, ranking.LeftOut, true
	if p.lists.Sources != nil {
		out.Queries.Ask.Lists = d.listsURL(p)
	}
	if p.lists.Candidates != nil {
		out.Model.Candidates = d.listsURL(p)
	}
	return out
}

// backwardParams returns the parameters of what is queried of the candidates of all passes.
func (d *discovering) backwardParams(held lock.Lock, announce string) discover.BackwardParams {
	return discover.BackwardParams{Model: d.modelParams(announce), Place: d.place(held), Of: d.passNames(), Name: backwardName}
}

func (d *discovering) passNames() (names []string) {
	for _, p := range d.passes {
		names = append(names, p.name)
	}
	return names
}

// modelParams returns the parameters of the model.
func (d *discovering) modelParams(announce string) score.Params {
	return score.Params{
		Graph: d.e.Workspace.Graph(), Without: d.loaded.Unknown, Split: d.about(), Checkpoints: string(d.model.Folder), Checkpoint: d.model.Record.Name(),
		Threads: d.threads, MostThreads: d.plan.MaxThreads, Memory: d.memory * budget.MiB, Kernel: d.e.Variant(d.kernel), Device: d.device,
		Announce: announce, RelationGraph: d.edges.URL(), Reach: d.model.Configuration.Reach,
	}
}

// listsURL returns the URL of the lists of a pass.
func (d *discovering) listsURL(p pass) string {
	return storage.Join(d.place(lock.Lock{}).Folder, p.name+"-"+listsFile)
}

// listParams returns the parameters of the pipeline that lists.
func (d *discovering) listParams(held lock.Lock) discover.ListParams {
	p := discover.ListParams{
		Place: d.place(held), Of: append(d.passNames(), backwardName), Backward: backwardName, Folder: d.e.Workspace.Path(d.folder), Lock: held,
		TopK: d.best, Most: d.most, Least: d.threshold, Model: d.modelParams(""),
	}
	p.Model.Probabilities, p.Model.Paths, p.Model.Walks = d.judged, d.kept(), d.walks
	return p
}

// make runs the pipelines and completes the folder.
func (d *discovering) make(ctx context.Context, stage *workspace.Stage) error {
	guarded := stage.Lock().Guard(ctx)
	if err := d.writeWeights(ctx, stage.Lock()); err != nil {
		return err
	}
	if err := d.edges.Make(ctx); err != nil {
		return err
	}
	if err := d.makeProbabilities(ctx, stage); err != nil {
		return err
	}
	defer budget.Limit(d.memory * budget.MiB)()
	for _, p := range d.passes {
		if p.lists.Sources != nil || p.lists.Candidates != nil {
			if err := tables.WriteLists(guarded, d.listsURL(p), p.lists); err != nil {
				return err
			}
		}
		err := d.score(ctx, "scoring", p.queries, "queries", func(announce string) *beam.Pipeline {
			return BuildCandidates(d.candidatesParams(p, stage.Lock(), announce))
		})
		if err != nil {
			return err
		}
	}
	wanted, err := d.place(stage.Lock()).Wanted(ctx, d.passNames())
	if err != nil {
		return err
	}
	err = d.score(ctx, "asking backward", wanted, "facts", func(announce string) *beam.Pipeline {
		return BuildBackward(d.backwardParams(stage.Lock(), announce))
	})
	if err != nil {
		return err
	}
	if err := d.merge(ctx, stage.Lock()); err != nil {
		return err
	}
	if err := storage.Clear(guarded, d.place(stage.Lock()).Folder, ""); err != nil {
		return err
	}
	storage.RemoveEmpty(guarded, d.place(stage.Lock()).Folder)
	return stage.Publish(ctx, map[string]int64{"queries": d.distinct})
}

// findProbabilities records the probabilities, if they are fitted.
func (d *discovering) findProbabilities(ctx context.Context) (err error) {
	d.judged, err = d.probabilities(ctx)
	d.recorded.Probabilities, d.recorded.recorded.Missing = d.judged.SHA256, d.judged.Missing
	return err
}

// makeProbabilities fits the probabilities, unless they are fitted, and records them.
func (d *discovering) makeProbabilities(ctx context.Context, stage *workspace.Stage) error {
	if d.fit.Made() {
		return nil
	}
	if err := d.fit.Make(ctx); err != nil {
		return err
	}
	err := d.findProbabilities(ctx)
	stage.Configuration = d.recorded
	return err
}

// score runs a pipeline that scores so many rows, which are of a unit.
func (d *discovering) score(ctx context.Context, title string, rows int64, unit string, build func(announce string) *beam.Pipeline) error {
	bar := d.e.Progress.Begin(title, rows, unit)
	defer bar.End()
	defer bar.Follow(ctx, score.RowsCounter)()
	announce, release := worker.Register(func(text string) { d.e.Progress.Print("%s", text) })
	defer release()
	worker.Start()
	if err := d.e.RunBeam(ctx, build(announce)); err != nil {
		return err
	}
	bar.Set(rows)
	return nil
}

// merge makes the list of what was scored.
func (d *discovering) merge(ctx context.Context, held lock.Lock) error {
	bar := d.e.Progress.Begin("merging", discover.Ranges, "ranges")
	defer bar.End()
	defer d.followExplanations(ctx, bar)()
	worker.Start()
	if err := d.e.RunBeam(ctx, BuildList(d.listParams(held))); err != nil {
		return err
	}
	bar.Set(discover.Ranges)
	return nil
}
