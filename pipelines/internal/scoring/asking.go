package scoring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/rules"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/stages/encode"
	"tagnet/stages/predict"
)

// AskFlags are the flags of ask and discover.
type AskFlags struct {
	sources, candidates string
	graph, output       string
	missing             answer.Missing
	explainFlags
}

// trainGraph is the value of --graph that queries the graph of the training facts, like an
// evaluation of the test split.
const trainGraph = "train"

// Register registers the flags. sources and candidates explain the flags of these names.
func (f *AskFlags) Register(set *flag.FlagSet, sources, candidates string) {
	const values = "`type:T|FILE|all`: "
	set.StringVar(&f.sources, "sources", "", values+sources+": those of a type, or the names in a file; default all")
	set.StringVar(&f.candidates, "candidates", "", values+candidates+"; default all")
	command.GraphFlag(set, &f.graph)
	command.MissingFlag(set, &f.missing)
	f.explainFlags.register(set)
	set.StringVar(&f.output, "output", "", "`name` of the folder of the results in the run's folder; default one made of the flags")
}

// Check validates the flags. file is the value of another flag that may be StandardInput.
func (f *AskFlags) Check(e *command.Environment, file string) error {
	if err := cmp.Or(e.NotEmpty("type:NAME, a file of names, or all", "sources", "candidates"), f.explainFlags.check()); err != nil {
		return err
	}
	if f.candidates == StandardInput && (f.sources == StandardInput || file == StandardInput) {
		return command.Usage("--candidates is -: standard input can be read only once")
	}
	if f.output != "" && checkpoint.CheckRun(f.output) != nil {
		return command.FlagError("output", f.output, checkpoint.RunName)
	}
	return nil
}

// Asking is one run of ask or discover.
type Asking struct {
	*Run
	*AskFlags
	// Sources and Candidates are the entities of the flags, ascending; nil stands for all.
	Sources, Candidates []int32
	Fit                 *probabilities.Fit // nil without probabilities
	// Probabilities is where workers read the probabilities of answers. Without a checksum they are not fitted, and
	// answers have none.
	Probabilities predict.Probabilities
	// Verdicts is where workers read what people said of facts: a copy beside the results.
	Verdicts predict.Verdicts
	// NeedsRules is set if the results need the rules of the graph. Rules is where workers read them.
	NeedsRules bool
	Rules      predict.Rules
	mined      *rules.Rules
	// Explained is about how many answers or facts --explain explains.
	Explained int64

	presumed probability.Presumed
	said     answer.Verdicts
	record   RecordedAsk
}

// Open opens the graph, the model and its probabilities, and reads the lists of entities. It writes nothing.
func (f *AskFlags) Open(ctx context.Context, e *command.Environment, flags *Flags) (*Asking, error) {
	about := kg.All
	if f.graph == trainGraph {
		about = "test"
	}
	r, err := flags.Open(ctx, e, about, false)
	if err != nil {
		return nil, err
	}
	a := &Asking{Run: r, AskFlags: f, NeedsRules: f.explain}
	if about == kg.All {
		a.Fit, err = probabilities.OpenFit(ctx, e, a.Model, a.Resources)
		if err != nil {
			return nil, err
		}
		a.record.Missing, a.record.Guessed, a.record.Shares = a.missing.Share, a.missing.Guessed, a.missing.Relations
		if a.presumed, err = a.Model.Presume(ctx, a.missing); err != nil {
			return nil, command.Usage("--missing: %v", err)
		}
		if err := a.readVerdicts(ctx); err != nil {
			return nil, err
		}
	}
	if a.Candidates, a.record.Candidates, err = a.list(ctx, "candidates", a.candidates); err != nil {
		return nil, err
	}
	if a.Sources, a.record.Sources, err = a.list(ctx, "sources", a.sources); err != nil {
		return nil, err
	}
	return a, nil
}

// RecordedAsk are the fields that the manifests of answers and of lists have in common.
type RecordedAsk struct {
	workspace.Evaluated
	// Graph is --graph. Sources and Candidates are types or hashes of lists; nothing stands for all entities.
	Graph      string `json:"graph"`
	Sources    string `json:"sources,omitempty"`
	Candidates string `json:"candidates,omitempty"`
	// Probabilities is the checksum of their file, nothing as long as none are fitted. Missing and Shares, by relation,
	// are what they presume to be missing; nobody said the former where Guessed.
	Probabilities string             `json:"probabilities,omitempty"`
	Missing       float64            `json:"missing,omitempty"`
	Guessed       bool               `json:"missing_guessed,omitempty"`
	Shares        map[string]float64 `json:"missing_by_relation,omitempty"`
	// Verdicts is the hash of their file, nothing without one.
	Verdicts string `json:"verdicts,omitempty"`
	// Paths is the number of paths of an explanation, 0 without, and PathChoice says among what: simple, or walks.
	Paths      int    `json:"paths,omitempty"`
	PathChoice string `json:"path_choice,omitempty"`
}

// Recorded returns the fields as they are now: the checksum of the probabilities is empty until they are fitted. tables
// are the versions of the results without explanations.
func (a *Asking) Recorded(tables map[string]string) RecordedAsk {
	r := a.record
	r.Evaluated, r.Graph, r.Probabilities = a.Run.Recorded(), a.graph, a.Probabilities.SHA256
	r.Paths, r.PathChoice, r.Tables = a.Kept(), a.choice(), tables
	if a.explain {
		maps.Copy(r.Tables, parquet.Versions(parquet.Explanation{}))
	}
	return r
}

// Divide divides like Run.Divide, and adds the fit and the explanations.
func (a *Asking) Divide(ctx context.Context, queries, work int64, u budget.Use) error {
	if a.explain {
		const rowsOfPath = 10 // with its text and steps
		u.Task, u.Paths = u.Task+" and explaining", a.Kept()
		u.Rows += rowsOfPath * min(a.Explained*int64(a.Kept()), budget.Shards*workload.MaxPaths)
		work += workload.ExplanationWork * a.Explained
	}
	other := a.Fit.Estimate()
	if a.NeedsRules {
		sizes, err := encode.SizesOf(ctx, a.Loaded, a.GraphName)
		if err != nil {
			return err
		}
		other = other.Or(probabilities.EstimateRules(sizes))
	}
	err := a.Run.Divide(ctx, queries, work, u, other)
	a.Cost.Seconds, a.Cost.AtMost = a.Cost.Seconds+a.Fit.Seconds(), true
	return err
}

// NewOutput returns an output like Run.NewOutput, and adds the job that fits the probabilities.
func (a *Asking) NewOutput(name, folder string, queries int64, loads []command.Load, jobs func() []*beam.Pipeline) workspace.Output {
	s := a.Run.NewOutput(name, folder, queries, append(a.Fit.Loads(), loads...), func() []*beam.Pipeline { return append(a.Fit.Jobs(), jobs()...) })
	s.Ready = a.Fit.Ready(s.Ready)
	return s
}

// Write is Run.Write, but fits the probabilities before the jobs, unless they are fitted, and finds the rules. Results
// of zero give way to those of the run's checkpoint. configuration returns the configuration of the output, with what
// is recorded of the probabilities.
func (a *Asking) Write(ctx context.Context, output *workspace.Output, configuration func() any,
	jobs func() (rows map[string]int64, err error)) (made bool, err error) {
	if a.Fit.Made() {
		if err := a.presume(ctx); err != nil {
			return false, err
		}
	} else { // a fit would give the probabilities that existing results of the same weights, graph and reach have
		var there RecordedAsk
		if m, err := manifest.Read(ctx, output.URL()); err == nil && json.Unmarshal(m.Configuration, &there) == nil {
			a.Probabilities.SHA256 = there.Probabilities
		}
	}
	output.Configuration = configuration()
	write := func() (rows map[string]int64, err error) {
		if !a.Fit.Made() {
			if err := a.Fit.Make(ctx, storage.Join(output.URL(), answer.ProbabilitiesFolder), output.Lock()); err != nil {
				return nil, err
			}
			if err := a.presume(ctx); err != nil {
				return nil, err
			}
			output.Configuration = configuration()
		}
		if err := a.copyVerdicts(output.Lock().Guard(ctx), output.URL()); err != nil {
			return nil, err
		}
		if a.NeedsRules {
			if _, err := a.FindRules(ctx, output.URL()); err != nil {
				return nil, err
			}
		}
		return jobs()
	}
	made, err = a.Run.Write(ctx, output, write)
	if way := a.givesWay(ctx, output, err); way != nil {
		a.E.Say("the results of %s in %s give way to %s", way[0], a.E.Workspace.Path(output.Folder), way[1])
		output.Cheap = true
		made, err = a.Run.Write(ctx, output, write)
	}
	if mismatch := new(workspace.Mismatch); errors.As(err, &mismatch) && len(mismatch.Differences) > 0 {
		err = fmt.Errorf("%w; or --output NAME to keep both", err)
	}
	return made, err
}

// givesWay returns what results are of that exist under the name that the flags give, and what the new ones are of,
// where an error is that they exist and they differ from this run's in their verdicts alone, or in their model alone:
// zero, before a training, instead of a checkpoint. They are intact, of this graph. Otherwise it returns nil.
func (a *Asking) givesWay(ctx context.Context, output *workspace.Output, err error) []string {
	mismatch := new(workspace.Mismatch)
	if a.output != "" || !errors.As(err, &mismatch) || len(mismatch.Differences) == 0 {
		return nil
	}
	if _, damaged := a.E.Workspace.Require(ctx, output.Folder, output.Command); damaged != nil {
		return nil
	}
	if !slices.ContainsFunc(mismatch.Differences, func(difference string) bool { return !strings.HasPrefix(difference, "verdicts ") }) {
		return []string{"other verdicts", "today's"}
	}
	if a.ModelGiven {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(mismatch.Differences[1:]), func(difference string) bool { // a checkpoint has a reach of its own
		return strings.HasPrefix(difference, "reach is absent there") && !a.E.HasFlag("reach")
	})
	there, unread := a.E.Workspace.EvaluatedCheckpoint(ctx, mismatch.Folder)
	if len(others) > 0 || unread != nil || there.GivenModel == nil || there.GivenModel.Model != zoo.Zero {
		return nil
	}
	return []string{"--model " + zoo.Zero, "those of " + a.Model.Record.Name()}
}

// FindRules returns the rules of the graph that is queried, which are kept in the workspace or else in the
// folder of the results.
func (a *Asking) FindRules(ctx context.Context, folder string) (_ *rules.Rules, err error) {
	if a.mined == nil {
		a.mined, a.Rules, err = probabilities.Rules(ctx, a.E, a.View.Graph, a.Allotment.Threads, folder)
	}
	return a.mined, err
}

// Estimator returns the estimator of the probabilities, nil without any.
func (a *Asking) Estimator() (*probability.Estimator, error) { return a.Fit.Estimator(a.presumed) }

// SayUncertain says why answers have no probabilities, where that was not said before.
func (a *Asking) SayUncertain(made bool) {
	switch {
	case a.Probabilities.SHA256 != "":
	case a.graph == trainGraph:
		a.E.Say("answers have scores, but no probabilities: these are fitted in the graph of all facts, which --graph %s leaves out", a.graph)
	case !made && !a.Fit.Made():
		a.E.Say("answers have scores, but no probabilities: the graph has too few facts to fit them to")
	}
}
