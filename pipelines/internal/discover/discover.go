package discover

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/predict/discover"
)

// recorded decides the content of a list, besides the graph.
type recorded struct {
	scoring.RecordedAsk
	Relations string  `json:"relation"`
	Most      int     `json:"most"`
	Threshold float64 `json:"threshold,omitempty"`
}

// pass is a set of queries in one direction or both, whose best answers are candidates for the list.
type pass struct {
	name      string
	relations []int32
	lists     tables.Lists
	queries   int64
}

type discovering struct {
	*scoring.Asking
	flags     *flags
	relations []int32
	passes    []pass
	// queries is the number of queries of all passes, backward the most that are then queried in the other direction.
	queries, backward int64
	record            recorded // but for what the model and the probabilities are
	folder            string
	found             probabilities.Found
}

// listsFile ends the names of the tables of lists of entities, in the folder of the spill files.
const listsFile = "lists.arrow"

// run writes the list of the most plausible new facts.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(e); err != nil {
		return err
	}
	opened, err := f.AskFlags.Open(ctx, e, &f.Flags)
	if err != nil {
		return err
	}
	opened.NeedsRules = true
	d := &discovering{Asking: opened, flags: f}
	if err := d.read(ctx); err != nil {
		return err
	}
	work := d.queries + d.backward
	rows := scoring.MostRows(work) + int64(d.flags.most) // a fact of the list takes as much as a row
	err = d.Divide(ctx, d.MostQueries(work), work, budget.Use{Task: "listing new facts of this graph", Rows: rows})
	if err != nil {
		return err
	}
	output := d.NewOutput("discover", d.folder, d.queries, d.loads(), d.jobs)
	output.Outputs = append([]string{metrics.DiscoveryFile, discover.Text, probabilities.RulesFile, discover.Table + "/"}, d.ExplanationOutputs()...)
	made, err := d.Write(ctx, &output, d.recorded, func() (map[string]int64, error) {
		guarded := output.Lock().Guard(ctx)
		if err := d.find(guarded); err != nil {
			return nil, err
		}
		if err := storage.WriteFile(guarded, d.E.Workspace.Path(d.folder, probabilities.RulesFile), d.found.Text()); err != nil {
			return nil, err
		}
		return map[string]int64{"queries": d.queries}, d.runJobs(ctx, output.Lock())
	})
	if err != nil {
		return err
	}
	return d.show(ctx, made)
}

// read reads the relations, and decides on the queries.
func (d *discovering) read(ctx context.Context) error {
	ids, names, err := d.Relations(ctx, d.flags.relation, kg.TypeRelation(d.Loaded.Manifest))
	if err != nil {
		return err
	}
	if slices.Max(ids) >= int32(len(d.Loaded.Relations)) {
		return command.Usage("--relation: a list has no direction: leave out the ~")
	}
	d.relations, d.Explained = ids, int64(d.flags.most)
	d.record = recorded{Relations: names, Most: d.flags.most, Threshold: d.flags.threshold}
	d.ask(d.Sources, d.Candidates, int64(d.View.Graph.Entities))
	d.folder = d.E.Workspace.FactsFolder(d.Output(d.Name("", d.flags.relation, "")))
	return nil
}

// recorded returns the configuration as it is now, for the manifest.
func (d *discovering) recorded() any {
	r := d.record
	r.RecordedAsk = d.Recorded(parquet.Versions(parquet.Fact{}))
	return r
}

// ask makes the passes that ask for the facts from heads to tails, of which nil is all, in a graph of entities. Where
// there is one list, its entities are queried; else both directions, so that neither side lacks its best facts where it
// has far more entities than the other.
func (d *discovering) ask(heads, tails []int32, entities int64) {
	inverse := make([]int32, len(d.relations))
	for i, r := range d.relations {
		inverse[i] = r + int32(len(d.Loaded.Relations))
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
		d.queries += p.queries
		answers := count(p.lists.Candidates)
		d.backward += min(answers*int64(len(p.relations)), p.queries*min(answers, int64(d.Best)))
	}
	d.E.Say("queries: %s, and backward at most %s (relations: %s)", progress.Count(d.queries), progress.Count(d.backward),
		progress.Count(int64(len(d.relations))))
}

// find finds the rules of the graph and what they say that it lacks, unless it is found.
func (d *discovering) find(ctx context.Context) error {
	if d.found.Relations != nil {
		return nil
	}
	mined, err := d.FindRules(ctx, d.E.Workspace.Path(d.folder))
	if err != nil {
		return err
	}
	d.found = probabilities.NewFound(d.Loaded.Relations, mined, mined.Findings(d.View.Graph))
	return nil
}

// jobs returns the pipelines of a list, in their order.
func (d *discovering) jobs() (jobs []*beam.Pipeline) {
	for _, p := range d.passes {
		jobs = append(jobs, command.BeamPipeline(discover.Candidates, d.candidatesParams(p, lock.Lock{}, "")))
	}
	return append(jobs, command.BeamPipeline(discover.Backward, d.backwardParams(lock.Lock{}, "")),
		command.BeamPipeline(discover.List, d.listParams(lock.Lock{})))
}

func (d *discovering) runJobs(ctx context.Context, held lock.Lock) error {
	guarded := held.Guard(ctx)
	// The best answers of each pass become candidates.
	for _, p := range d.passes {
		if p.lists.Sources != nil || p.lists.Candidates != nil {
			if err := tables.WriteLists(guarded, d.listsURL(p), p.lists); err != nil {
				return err
			}
		}
		err := d.Job(ctx, "scoring", p.queries, "queries", func(announce string) *beam.Pipeline {
			return command.BeamPipeline(discover.Candidates, d.candidatesParams(p, held, announce))
		})
		if err != nil {
			return err
		}
	}
	// Each candidate needs the rank of its other query, too.
	backwardQueries, err := d.spillFolder(held).CountWanted(ctx, d.passNames())
	if err != nil {
		return err
	}
	err = d.Job(ctx, "asking backward", backwardQueries, "facts", func(announce string) *beam.Pipeline {
		return command.BeamPipeline(discover.Backward, d.backwardParams(held, announce))
	})
	if err != nil {
		return err
	}
	// The best candidates are listed, and the spill files removed.
	if err := d.merge(ctx, held); err != nil {
		return err
	}
	spills := d.spillFolder(held).Folder
	if err := storage.Clear(guarded, spills, ""); err != nil {
		return err
	}
	storage.RemoveEmpty(guarded, spills)
	return nil
}

// merge makes the list of what was scored.
func (d *discovering) merge(ctx context.Context, held lock.Lock) error {
	bar := d.E.Progress.Begin("merging", discover.Ranges, "ranges")
	defer bar.End()
	defer d.FollowExplanations(ctx, bar)()
	if err := d.E.RunBeam(ctx, command.BeamPipeline(discover.List, d.listParams(held))); err != nil {
		return err
	}
	bar.Set(discover.Ranges)
	bar.Complete()
	return nil
}
