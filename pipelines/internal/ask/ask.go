package ask

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/predict"
)

type asking struct {
	*scoring.Asking
	flags  *flags
	file   lines        // of --queries
	ask    workload.Ask // of --relation
	record recorded     // but for what the model and the probabilities are
	folder string       // below the workspace
	// queries counts lines or combinations, distinct the different ones, shown the printed ones.
	queries, distinct int64
	shown             int
	knownAnswers      int64 // with --known
}

// recorded decides the content of answers, besides the graph.
type recorded struct {
	scoring.RecordedAsk
	// Queries is the SHA-256 of the file, Relations the names of --relation.
	Queries   string `json:"queries,omitempty"`
	Relations string `json:"relation,omitempty"`
	Known     bool   `json:"known,omitempty"`
	// OnUnknown is --on_unknown, unless it is the default.
	OnUnknown string `json:"on_unknown,omitempty"`
}

// recorded returns the configuration as it is now, for the manifest.
func (a *asking) recorded() any {
	r := a.record
	r.RecordedAsk = a.Recorded(parquet.Versions(parquet.Answer{}))
	return r
}

// listsFile and queriesFile are the tables of lists of entities and of queries, in the folder of the answers.
const listsFile, queriesFile = "lists.arrow", "queries.arrow"

// url returns the URL of such a table.
func (a *asking) url(file string) string { return storage.Join(a.E.Workspace.Path(a.folder), file) }

// run answers what the flags ask for.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(e); err != nil {
		return err
	}
	opened, err := f.AskFlags.Open(ctx, e, &f.Flags)
	if err != nil {
		return err
	}
	a := &asking{Asking: opened, flags: f}
	if f.asks() {
		return (&givenPatterns{asking: a}).answer(ctx)
	}
	if f.relation != "" {
		err = a.readRelations(ctx)
	} else {
		err = a.readFile(ctx)
	}
	if err != nil {
		return err
	}
	if a.file.tableKind != workload.GivenQueries {
		return (&givenTriples{asking: a}).answer(ctx)
	}
	return a.answer(ctx)
}

// readFile reads the lines of --queries.
func (a *asking) readFile(ctx context.Context) (err error) {
	if a.file, err = a.flags.readLines(ctx, a.E, a.Loaded, a.View); err != nil {
		return err
	}
	name := givenNames[a.file.tableKind]
	if n := a.file.duplicates; n > 0 {
		a.E.Say("%s: duplicate %s: %s; each is answered once", a.flags.queries, name, progress.Count(n))
	}
	a.record.Queries, a.shown = a.file.sha256, 20
	a.queries = int64(len(a.file.queries)) - a.file.skipped
	if a.flags.onUnknown == skip {
		a.record.OnUnknown = skip
	}
	a.distinct = a.queries - a.file.duplicates
	a.folder = a.E.Workspace.AnswersFolder(a.Output(name))
	return nil
}

// readRelations reads the names of --relation.
func (a *asking) readRelations(ctx context.Context) (err error) {
	if a.ask.Relations, a.record.Relations, err = a.Relations(ctx, a.flags.relation, ""); err != nil {
		return err
	}
	sources := int64(len(a.View.Entities))
	if a.Sources != nil {
		sources = int64(len(a.Sources))
	}
	a.queries = sources * int64(len(a.ask.Relations))
	a.distinct, a.shown = a.queries, 3
	a.E.Say("queries: %s (sources: %s, relations: %s)", progress.Count(a.queries), progress.Count(sources), progress.Count(int64(len(a.ask.Relations))))
	known := ""
	if a.flags.known {
		known = "known"
	}
	a.folder = a.E.Workspace.AnswersFolder(a.Output(a.Name("relation", a.flags.relation, known)))
	if a.Sources != nil {
		a.ask.Lists = a.url(listsFile)
	}
	return nil
}

// answer answers queries, unless their answers are there.
func (a *asking) answer(ctx context.Context) error {
	a.record.Known = a.flags.known
	if a.Candidates != nil {
		a.Best = min(a.Best, len(a.Candidates))
	}
	if err := a.countKnown(ctx); err != nil {
		return err
	}
	a.Explained = a.distinct*int64(a.Best) + a.knownAnswers
	// The memory and the time decide whether the command can run at all.
	held, work := a.queries, a.queries+a.backward()
	if a.flags.relation != "" { // they are made where they are answered
		held = a.MostQueries(held)
	}
	err := a.Divide(ctx, held, work, budget.Use{Task: "answering on this graph", Rows: scoring.MostRows(2 * work)})
	if err != nil {
		return err
	}
	outputs := append([]string{predict.AnswersFile, predict.AnsweredFile, predict.AnswersTable + "/"}, a.ExplanationOutputs()...)
	job := answersJob{count: a.queries, unit: "queries", title: "scoring", loads: a.loads(), write: a.writeTables, build: a.build,
		recorded: a.recorded, outputs: outputs}
	made, err := a.writeAnswers(ctx, job, a.followBackward, a.FollowExplanations)
	if err != nil {
		return err
	}
	return a.show(ctx, made)
}

// answersJob is the job that makes the outputs for a number of queries, or of another unit.
type answersJob struct {
	count       int64
	unit, title string
	loads       []command.Load                  // of its steps
	write       func(ctx context.Context) error // what workers read of the flags
	build       func(held lock.Lock, announce string) *beam.Pipeline
	recorded    func() any // the configuration for the manifest
	outputs     []string
}

// writeAnswers makes the outputs, unless they are there. Each of followers is for Job.
func (a *asking) writeAnswers(ctx context.Context, j answersJob, followers ...func(context.Context, *progress.Bar) (stop func())) (made bool, err error) {
	output := a.NewOutput("ask", a.folder, j.count, j.loads, func() []*beam.Pipeline { return []*beam.Pipeline{j.build(lock.Lock{}, "")} })
	if output.Outputs = j.outputs; a.flags.onUnknown == skip {
		output.Outputs = append(output.Outputs, skippedFile)
	}
	output.Cheap = a.flags.relation == "" && a.Output("") == "" // answers to a file, and of patterns, are overwritten without --force
	return a.Write(ctx, &output, j.recorded, func() (map[string]int64, error) {
		if err := j.write(output.Lock().Guard(ctx)); err != nil {
			return nil, err
		}
		build := func(announce string) *beam.Pipeline { return j.build(output.Lock(), announce) }
		return map[string]int64{j.unit: j.count}, a.Job(ctx, j.title, j.count, j.unit, build, followers...)
	})
}

// writeTables writes what workers read of the flags.
func (a *asking) writeTables(ctx context.Context) error {
	if a.flags.queries != "" {
		if err := kg.WriteQueries(ctx, a.url(queriesFile), a.file.queries); err != nil {
			return err
		}
	}
	if a.flags.onUnknown == skip {
		if err := storage.WriteFile(ctx, a.url(skippedFile), a.file.skippedText()); err != nil {
			return err
		}
	}
	if a.ask.Lists == "" && a.Candidates == nil {
		return nil
	}
	return tables.WriteLists(ctx, a.url(listsFile), tables.Lists{Sources: a.Sources, Candidates: a.Candidates})
}

// candidates returns how many candidates of a query are queried in the other direction, at most.
func (a *asking) candidates() int {
	asking := answer.Asking{Best: a.Best}
	return asking.Candidates()
}

// backward returns the number of answers that are scored in the other direction, at most: candidates, and known
// answers, each of which is scored with its fact first, and without it in both directions.
func (a *asking) backward() int64 { return a.distinct*int64(a.candidates()) + 3*a.knownAnswers }

// followBackward shows behind a bar how many candidates are queried in the other direction, until stop is called.
func (a *asking) followBackward(ctx context.Context, bar *progress.Bar) (stop func()) {
	return bar.Also("asking backward", a.backward(), "answers").Follow(ctx, predict.BackwardCounter)
}

// countKnown counts the known answers that are listed with --known.
func (a *asking) countKnown(ctx context.Context) error {
	if !a.flags.known {
		return nil
	}
	known, err := a.View.Answers(ctx)
	if err != nil {
		return err
	}
	add := func(source, relation int32) {
		a.knownAnswers += int64(min(answer.MostKnown, len(known.Of(source, relation))))
	}
	for _, line := range a.file.queries {
		if !a.file.tableKind.Skips(line) {
			add(line.Source, line.Relation)
		}
	}
	for _, relation := range a.ask.Relations {
		for _, source := range a.Sources {
			add(source, relation)
		}
		for source := 0; a.Sources == nil && source < a.View.Graph.Entities; source++ {
			add(int32(source), relation)
		}
	}
	return nil
}

// times returns the work of a query and its explanations in queries that are propagated alone: less than 1 where a
// batch shares it.
func (a *asking) times() float64 {
	times := 1.0
	if a.flags.relation != "" {
		times /= workload.Together
	}
	if a.Kept() > 0 {
		times *= float64(1 + workload.ExplanationWork*a.Best)
	}
	return times
}

func (a *asking) params(held lock.Lock, announce string) predict.AskParams {
	p := predict.AskParams{Params: a.Params(announce), Folder: a.E.Workspace.Path(a.folder), Lock: held}
	p.Probabilities, p.Rules, p.Verdicts, p.Walks, p.Queries = a.Probabilities, a.Rules, a.Verdicts, a.Walks, a.Queries(a.times())
	p.Queries.TableKind, p.Queries.Ask, p.Queries.Best, p.Queries.Paths, p.Queries.WithKnown = a.file.tableKind, a.ask, a.candidates(), a.Kept(), a.flags.known
	if a.flags.queries != "" {
		p.Queries.Queries = a.url(queriesFile)
	}
	if a.Candidates != nil {
		p.Candidates = a.url(listsFile)
	}
	return p
}

// loads returns the inputs of the steps. A row of answers takes 14 bytes on WN18RR_v1.
func (a *asking) loads() []command.Load {
	const step, bytesPerRow = "predict.answers", 14
	rows := a.queries + a.distinct*int64(a.Best*workload.AnswerRows(a.Kept()))
	shards := workload.Count(a.distinct, rows, a.Queries(a.times()).Work)
	loads := []command.Load{
		{Step: "predict.cut", Elements: a.queries, Unit: "queries"},
		{Step: step, Elements: a.distinct, Unit: "distinct queries", Parts: shards, Bytes: bytesPerRow * (a.queries + a.distinct*int64(a.Best))},
	}
	return append(loads, a.ExplanationLoads(step, shards)...)
}

func (a *asking) build(held lock.Lock, announce string) *beam.Pipeline {
	return command.BeamPipeline(predict.Answers, a.params(held, announce))
}
