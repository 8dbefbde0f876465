package train

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/accelerator"
	"tagnet/model/budget"
	"tagnet/model/engine/relations"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/stages/encode"
	"tagnet/stages/train"
)

func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // the devices of --device

type flags struct {
	preset string
	fields []*field
	command.Resources
	workers    int
	localSteps int
	resume     bool
	every      float64 // minutes between checkpoints
	minutes    float64
	validation metrics.Validation
	origin     origin
	bundles    bool

	configuration configuration.Configuration
	rounds        configuration.Rounds
	together      int       // shards of a round that a process trains at the same time
	computing     string    // says what it computes on
	until         time.Time // when the training ends, unless it is zero
	graph         *kg.KG    // verified and loaded once for all choices, with inputs
	inputs        map[string]string
	before        int  // complete epochs before those of --resume --minutes
	existing      bool // checkpoints that exist decide a training for a time
	measuring     bool // an opened training is measured, and not made
	allotment     budget.Allotment
}

// Pipeline returns the train command.
func Pipeline() command.Pipeline {
	f := &flags{fields: fields()}
	return command.Pipeline{
		Name:    "train",
		Summary: "Trains a model on the training facts: a preset sets all hyperparameters, and flags change single ones.",
		First:   "workspace run minutes from preset layers dim reach epochs learning_rate negatives resume force device memory",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.preset, "preset", "", "`name|FILE.json`: the configuration to start from: a file, or a preset "+configuration.PresetsHelp())
			set.StringVar(&f.origin.from, "from", "", "`zero|file`: weights to train further: the model zero, or another that tagnet comes with, a checkpoint (best, or .safetensors), or a file (.pth) of ULTRA's; decides the architecture")
			for _, field := range f.fields {
				set.Var(field, field.Name, field.Usage())
			}
			set.BoolVar(&f.bundles, "bundles", false, "read the parts of the graph that queries propagate through, which bundle wrote for --reach, and hold no graph; changes no result")
			set.IntVar(&f.workers, "workers", 1, fmt.Sprintf("workers that train the model in rounds and average it after each, 1 to %d; changes the result", configuration.MostWorkers))
			set.IntVar(&f.localSteps, "local_steps", 8, "steps of each worker in a round, 1 or more, with --workers above 1")
			set.BoolVar(&f.resume, "resume", false, "resume from the newest checkpoint, with its hyperparameters, seed and validation; --epochs may be larger")
			set.Float64Var(&f.every, "checkpoint_minutes", 10, "longest time between checkpoints inside an epoch; 0 to 10")
			set.Float64Var(&f.minutes, "minutes", defaultMinutes, "time of the training, more than 0 and at most 1000000, with its validations and the fit of probabilities; with --resume so much more")
			f.Register(set)
			set.IntVar(&f.validation.Every, "validate_every", 1, "epochs between validations, 1 or more; the last epoch is always validated")
			set.Int64Var(&f.validation.Limit, "valid_limit", 0, "most validation queries per epoch, 0 or more, spread evenly over all; 0 takes all")
			set.IntVar(&f.validation.Patience, "patience", 0, "end the training after so many epochs without a better validation MRR, 0 or more; 0 trains all --epochs")
		},
		Run: f.run,
	}
}

// check validates the flags, except the hyperparameters, which --resume may complete.
func (f *flags) check() error {
	if _, err := configuration.NewRounds(f.workers, f.localSteps); err != nil {
		return command.Usage("--%v", err)
	}
	switch {
	case !(f.every >= 0 && f.every <= 10):
		return command.FlagError("checkpoint_minutes", f.every, "0 to 10")
	case f.validation.Every < 1:
		return command.FlagError("validate_every", f.validation.Every, "1 or more")
	case f.validation.Limit < 0:
		return command.FlagError("valid_limit", f.validation.Limit, "0 or more")
	case f.validation.Patience < 0:
		return command.FlagError("patience", f.validation.Patience, "0 or more")
	}
	return f.Resources.Check()
}

// recorded decides the content of checkpoints, besides the seed and the graph.
type recorded struct {
	configuration.Configuration
	configuration.Rounds
	Validation metrics.Validation `json:"validation"`
	Origin     *checkpoint.Origin `json:"from,omitempty"`
}

// trainer is one run of the command.
type trainer struct {
	*flags
	e      *command.Environment
	loaded *kg.KG
	facts  int64 // that the training learns from
	valid  int64 // validation queries
	stage  *workspace.Output
	folder checkpoint.Folder

	fit *probabilities.Fit // of the best checkpoint, or nil until it is opened
}

// run trains a model, or resumes a training, and fits its probabilities.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	began := time.Now()
	if err := f.check(); err != nil {
		return err
	}
	if err := e.NotEmpty("a preset file, or one of "+strings.Join(configuration.PresetNames(), ", "), "preset"); err != nil {
		return err
	}
	if err := e.NotEmpty("a file", "from"); err != nil {
		return err
	}
	if err := f.schedule(ctx, e, began); err != nil {
		return err
	}
	if err := f.configure(ctx, e); err != nil {
		return err
	}
	if err := f.checkBundles(); err != nil {
		return err
	}
	// The graph is open and nothing written yet: the decision looks at the checkpoints that exist.
	t, err := f.open(ctx, e)
	if err != nil {
		return err
	}
	decided, err := t.decide(ctx)
	if err != nil {
		return err
	}
	if decided == complete {
		e.Say("%s is complete with the same configuration; use --force to train again, or --resume --minutes M to train for longer", t.folder)
		return t.summarize(ctx, false)
	}
	// Training, if there is something to train, then the probabilities.
	defer budget.Limit(f.Memory * budget.MiB)()
	if decided == fitOnly {
		if err := t.readyToFit(ctx); err != nil {
			return err
		}
	} else if err := t.trainAndPublish(ctx, decided); err != nil {
		return err
	}
	if err := t.makeFit(ctx); err != nil {
		return err
	}
	return t.summarize(ctx, true)
}

// trainAndPublish trains as a decision says, and publishes the checkpoints.
func (t *trainer) trainAndPublish(ctx context.Context, d decision) error {
	if err := t.prepare(ctx, d); err != nil {
		return err
	}
	return command.FillFolder(ctx, t.stage, func() (map[string]int64, error) {
		if err := t.train(ctx); err != nil {
			return nil, err
		}
		return t.completed(ctx)
	})
}

// open reads the graph and divides the memory. It writes nothing.
func (f *flags) open(ctx context.Context, e *command.Environment) (*trainer, error) {
	// The graph; with --bundles without its edges.
	open := e.Workspace.OpenGraph
	if f.bundles {
		open = e.Workspace.OpenOutline
	}
	if f.graph == nil {
		var err error
		if f.graph, f.inputs, err = open(ctx); err != nil {
			return nil, err
		}
	}
	loaded, inputs := f.graph, f.inputs
	if err := f.origin.over(loaded); err != nil {
		return nil, err
	}
	if err := f.openDevices(); err != nil {
		return nil, err
	}
	// What the splits allow.
	split, err := encode.SizesOf(ctx, loaded, "train")
	if err != nil {
		return nil, err
	}
	if split.Queries == 0 {
		return nil, errors.New("the train split has no queries: put facts into the dataset's train.txt and preprocess again")
	}
	sizes, err := encode.SizesOf(ctx, loaded, "valid")
	if err != nil {
		return nil, err
	}
	if sizes.Queries == 0 && f.validation.Patience > 0 {
		return nil, command.Usage("--patience is %d, and the dataset has no validation facts that could get better: leave it out", f.validation.Patience)
	}
	if sizes.Queries == 0 {
		e.Say("there are no validation queries: the last epoch will count as the best")
	}
	summary, err := counts.ReadDataset(ctx, e.Workspace.Graph())
	if err != nil {
		return nil, err
	}
	if c := summary.Conversion; c != nil && c.Split != nil && c.Split.NearInverse > 0 && f.configuration.Remove == configuration.RemoveTriple {
		e.Say("near-inverse relations: %d of %d: --remove one_hop hides their facts in training, as validation and test do; lists of new facts are better without it", c.Split.NearInverse, summary.Relations)
	}
	if loaded.Of("valid") != loaded.Train {
		e.Say("validation is on the inference graph, as preprocess --validate_on inference decided")
		sizes.Entities, sizes.Edges = max(sizes.Entities, split.Entities), max(sizes.Edges, split.Edges)
	}
	// The memory depends on the relation graph and, for the probabilities, on the graph of all facts.
	if sizes.RelationEdges, err = relations.CountEdges(loaded.Train.Graph, f.configuration); err != nil {
		return nil, err
	}
	all, err := encode.SizesOf(ctx, loaded, kg.All)
	if err != nil {
		return nil, err
	}
	if f.allotment, err = e.Allot(f.estimate(sizes, all), f.Memory, f.Threads); err != nil {
		return nil, err
	}
	// The stage of the checkpoints.
	t := &trainer{
		flags: f, e: e, folder: checkpoint.Folder(e.Workspace.Checkpoints()), loaded: loaded, facts: split.Queries / 2, valid: sizes.Queries,
		stage: &workspace.Output{
			Workspace: e.Workspace, Name: "train", Folder: e.Workspace.CheckpointsFolder(), Inputs: inputs, Vocabulary: loaded.Vocabulary, Seed: e.Seed,
			OutlivesInputs: true, Resumed: true, Command: e.Again("resume", "minutes"), WrittenOutside: []string{e.Workspace.TrainingLog()},
		},
	}
	if err := t.openBundles(ctx); err != nil {
		return nil, err
	}
	drawn := int64(steps.Drawn(int(t.facts), f.configuration)) // queries of an epoch
	t.stage.Configuration = t.recorded()
	cost, err := t.cost(ctx)
	if err != nil {
		return nil, err
	}
	t.stage.Ready = t.ready(ctx, drawn, cost)
	return t, nil
}

// recorded returns the configuration that decides the content of the checkpoints.
func (t *trainer) recorded() recorded {
	return recorded{t.configuration, t.rounds, t.validation, t.origin.recorded}
}

// ready returns the function that checks that the jobs can run. queries is the number of queries of an epoch.
func (t *trainer) ready(ctx context.Context, queries int64, cost command.Cost) func(ctx context.Context) error {
	return t.e.Ready(command.Work{
		Jobs: func() ([]*beam.Pipeline, error) { return t.jobs(ctx) }, Memory: t.Memory, Count: queries, Unit: "training queries", Loads: t.loads(queries), Cost: cost,
	})
}

// jobs returns the Beam pipeline that the run begins with: others follow it for further rounds, and for the fit of probabilities.
func (t *trainer) jobs(ctx context.Context) ([]*beam.Pipeline, error) {
	if t.rounds.Workers > 1 {
		return t.firstJob(ctx)
	}
	return []*beam.Pipeline{Build(t.params(""))}, nil
}

// loads returns the inputs of the steps; the input of the training step is an epoch's.
func (t *trainer) loads(queries int64) []command.Load {
	step, batch := "train.learn", int64(t.configuration.BatchSize)
	if t.rounds.Workers > 1 {
		step = "train.shard"
	}
	return []command.Load{{Step: step, Elements: queries, Unit: fmt.Sprintf("queries in an epoch, which has %s optimizer steps", progress.Count((queries+batch-1)/batch))}}
}

// decision says what happens to existing checkpoints.
type decision int

const (
	start    decision = iota // there are none
	complete                 // all epochs are trained: nothing is left to do
	fitOnly                  // all epochs are trained, but no probabilities are fitted: --resume
	resume                   // continue from the newest
	extend                   // all epochs of an earlier run are trained, this one has more
	replace                  // remove them: --force without --resume
)

// decide says what to do with existing checkpoints. It changes nothing; only --force without
// --resume removes checkpoints. With --resume, --force takes over the lock of another run.
func (t *trainer) decide(ctx context.Context) (decision, error) {
	_, err := manifest.Read(ctx, string(t.folder))
	finished := !errors.Is(err, fs.ErrNotExist)
	if t.e.Force && !t.resume {
		return replace, nil
	}
	if finished && err != nil && !errors.Is(err, manifest.ErrDamaged) { // whether there is one is not known
		return 0, err
	}
	if !t.e.Force {
		if err := t.stage.CheckFree(ctx); err != nil {
			return 0, keepCheckpoints(err)
		}
	}
	// A complete training is extended if it is to have more epochs.
	records, damaged, err := t.folder.Records(ctx)
	if err != nil {
		return 0, err
	}
	if finished {
		n := len(records)
		more := n > 0 && t.configuration.Epochs > records[n-1].Epoch && !learn.Stopped(records, t.validation.Patience)
		if more && !t.resume && t.sameRun(records) == nil {
			again := t.stage.Command
			return 0, fmt.Errorf("%s is complete with %d epochs: %s trains %d more, %s trains all %d again", t.folder, records[n-1].Epoch,
				again.With("--resume"), t.configuration.Epochs-records[n-1].Epoch, again.With("--force"), t.configuration.Epochs)
		}
		if !more || !t.resume {
			done, err := t.stage.Begin(ctx, false)
			if done && err == nil && n > 0 && t.sameRun(records) == nil {
				if missing, err := t.unfitted(ctx); missing || err != nil {
					return fitOnly, err
				}
			}
			if done {
				return complete, err
			}
			return start, err
		}
		if _, err := t.e.Workspace.Require(ctx, t.stage.Folder, t.stage.Command); err != nil {
			return 0, err
		}
	}
	// Without checkpoints the training starts.
	if len(records) == 0 && len(damaged) == 0 {
		if t.resume {
			return start, t.resumeNothing(ctx)
		}
		return start, nil
	}
	// An unfinished training is resumed if it is this one and --resume is given.
	if err := t.sameRun(records); err != nil {
		return 0, err
	}
	if !t.resume {
		again := t.stage.Command
		return 0, fmt.Errorf("%s holds an unfinished training: continue it with %s --resume, or start over with %s --force", t.folder, again, again)
	}
	if finished {
		return extend, nil
	}
	return resume, nil
}

// resumeNothing returns an error if --resume alone is given and a run with other flags was interrupted before its first
// checkpoint: there are no flags to take, and it would train with the defaults. Otherwise it says that the training starts from the beginning.
func (t *trainer) resumeNothing(ctx context.Context) error {
	before, err := lock.LastCommand(ctx, string(t.folder))
	if err != nil {
		return err
	}
	alone := t.stage.Command.With("--resume").String() == t.resumed().String() // no flag that a checkpoint has is given
	if alone && before != "" && before != t.stage.Command.String() {
		return fmt.Errorf("there is no checkpoint to resume from, and so none whose flags --resume can take; this starts the interrupted training again: %s", before)
	}
	t.e.Say("there is no checkpoint to resume from: training from the beginning")
	return nil
}

// resumed returns the command line that resumes this run, without the flags that --resume takes from the checkpoint.
func (t *trainer) resumed() workspace.Command {
	without := []string{"resume", "minutes", "preset", "from", "seed", "validate_every", "valid_limit", "patience", "workers", "local_steps"}
	for _, f := range t.fields {
		without = append(without, f.Name)
	}
	return t.e.Again(without...).With("--resume")
}

// prepare creates or cleans the folder of checkpoints as a decision says.
func (t *trainer) prepare(ctx context.Context, d decision) error {
	switch d {
	case resume:
		return t.stage.Resume(ctx, t.e.Force)
	case extend:
		if err := t.stage.Resume(ctx, t.e.Force); err != nil {
			return err
		}
		return storage.Remove(ctx, storage.Join(string(t.folder), manifest.FileName)) // no longer complete
	}
	if _, err := t.stage.Begin(ctx, t.e.Force); err != nil {
		return err
	}
	if err := t.writeOrigin(ctx); err != nil {
		t.stage.Pause()
		return err
	}
	return nil
}

// keepCheckpoints adds to the error of a folder that another run is writing how to take it over
// and keep its checkpoints.
func keepCheckpoints(err error) error {
	if held := new(lock.Held); errors.As(err, &held) {
		return fmt.Errorf("%w; --resume --force keeps its checkpoints, --force alone removes them", err)
	}
	return err
}

// sameRun returns an error that lists the differences if a checkpoint was written by a run with
// other parameters.
func (t *trainer) sameRun(records []checkpoint.Record) error {
	for _, r := range slices.Backward(records) {
		there, here := recorded{r.Configuration.Resumed(t.configuration), r.Rounds, r.Validation, r.Origin}, t.recorded()
		there.Epochs = max(r.Epoch, t.configuration.Epochs)
		there.Workers, here.Workers = max(1, there.Workers), max(1, here.Workers)
		different, err := differences(there, here)
		if err != nil {
			return err
		}
		if rate := steps.LearningRate(t.configuration, r.Epoch); r.Partial == nil && r.LearningRate != rate {
			different = append(different, fmt.Sprintf("the learning rate is %g there, %g here", r.LearningRate, rate))
		}
		if r.Seed != t.e.Seed {
			different = append(different, fmt.Sprintf("seed is %d there, %d here", r.Seed, t.e.Seed))
		}
		remedy := fmt.Sprintf("%s continues it, another --workspace or %s starts over",
			t.e.Workspace.Command("train", "--resume"), t.stage.Command.With("--force"))
		if r.Vocabulary.Graph != t.loaded.Manifest.Checksum {
			different = append(different, "the graph is another")
			remedy = fmt.Sprintf("use another --workspace, or %s to start over", t.stage.Command.With("--force"))
		}
		if len(different) > 0 {
			return fmt.Errorf("%s of %s was written with another configuration (%s): %s", r.Name(), t.folder, strings.Join(different, "; "), remedy)
		}
	}
	return nil
}

// differences lists the fields in which two values differ as JSON.
func differences(there, here any) ([]string, error) {
	a, err := json.Marshal(there)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(here)
	if err != nil {
		return nil, err
	}
	return workspace.Differences(a, b)
}

// train runs the Beam pipeline. After an interrupt it waits until the training has written a
// checkpoint.
func (t *trainer) train(ctx context.Context) error {
	show := &display{environment: t.e, rate: t.configuration.LearningRate, pretrained: t.origin.recorded != nil}
	defer show.end()
	// The session brings progress here and the interrupt to the training.
	session := train.NewSession(show.update)
	defer session.Close()
	defer command.OnSecondInterrupt(ctx, show.lost)()
	defer context.AfterFunc(ctx, func() {
		switch {
		case command.Elsewhere():
			t.e.Progress.Print("interrupted: the newest checkpoint is kept, and the steps after it are lost")
		case t.rounds.Workers > 1:
			t.e.Progress.Print("interrupted: ending the current steps; the last round is kept")
		default:
			t.e.Progress.Print("interrupted: writing a checkpoint; a second interrupt ends at once, without it")
		}
		session.Stop()
	})()
	// A training in this process ends by itself, however long writing takes. One on another machine
	// is not reached by the interrupt: the runner cancels it, at once.
	running, release := context.WithoutCancel(ctx), func() {}
	if !command.Local() {
		wait := grace
		if command.Elsewhere() {
			wait = 0
		}
		running, release = command.CancelLater(ctx, wait)
	}
	defer release()
	// An interrupt explains any error.
	err := t.runJobs(running, t.params(session.ID), show)
	if ctx.Err() == nil {
		if err != nil && learn.Diverged(session.Err()) {
			return command.Diverged(err)
		}
		return err
	}
	show.end()
	t.reportInterrupt(ctx, session.Err())
	return context.Cause(ctx)
}

// params returns the parameters of the stage, for the lock that the stage holds. session is the id of a
// learn.Session.
func (t *trainer) params(session string) train.Params {
	w := t.e.Workspace
	return train.Params{
		Graph: w.Graph(), Bundles: t.bundlesURL(), Together: t.together, Session: session,
		Run: learn.Run{
			Checkpoints: w.Checkpoints(), History: w.TrainingLog(), Lock: t.stage.Lock(),
			Configuration: t.configuration, Seed: t.e.Seed, Validation: t.validation, Rounds: t.rounds,
			Every: time.Duration(t.every * float64(time.Minute)), Until: t.until,
			Threads: t.Threads, MostThreads: t.allotment.MaxThreads, Memory: t.Memory * budget.MiB, Kernel: t.e.Variant(t.Kernel), Device: t.Device,
		},
	}
}

// grace is how long an interrupted training whose workers are in this process, of another runner than the local one, may take
// for its last checkpoint before it is canceled.
const grace = 10 * time.Second

// runJobs runs the Beam pipeline of one worker, or the pipelines of the rounds of several.
func (t *trainer) runJobs(ctx context.Context, p train.Params, show *display) error {
	if command.Elsewhere() { // a training in this process reports to the session
		queries := int64(steps.Drawn(int(t.facts), t.configuration))
		defer t.follow(ctx, queries, show)()
	}
	if t.rounds.Workers > 1 {
		return t.runRounds(ctx, p)
	}
	return t.e.RunBeam(ctx, Build(p))
}

// Build returns the Beam pipeline that trains by one worker.
func Build(p train.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	train.Learn(s, p)
	return pipeline
}

// reportInterrupt says where an interrupted training resumes, and whether its last checkpoint could
// not be written. err is the error with which it ended.
func (t *trainer) reportInterrupt(ctx context.Context, err error) {
	records, _, unread := t.folder.Records(context.WithoutCancel(ctx))
	switch {
	case unread != nil:
		t.e.Say("listing the checkpoints: %v", unread)
	case len(records) == 0:
		t.e.Say("%s holds no checkpoint yet", t.folder)
	default:
		t.e.Say("%s holds the training up to %s: continue with %s",
			t.folder, records[len(records)-1].Name(), t.resumed())
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.e.Say("the steps since then are lost: %v", err)
	}
}

// completed checks that the checkpoints are complete and this run's, and returns the counts for their manifest.
func (t *trainer) completed(ctx context.Context) (rows map[string]int64, err error) {
	records, _, err := t.folder.Records(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.sameRun(records); err != nil {
		return nil, err
	}
	t.stage.Outputs = []string{checkpoint.BestFile}
	n := len(records)
	ended := n > 0 && (records[n-1].Epoch == t.configuration.Epochs || learn.Stopped(records, t.validation.Patience) || !t.until.IsZero())
	if !ended {
		return nil, fmt.Errorf("the job ended, but %s lacks epoch %d of %d: continue it with %s --resume", t.folder, t.configuration.Epochs, t.configuration.Epochs, t.stage.Command)
	}
	return map[string]int64{"epochs": int64(records[n-1].Epoch), "facts": t.facts}, nil
}

// summarize prints the best epoch, the outputs, whether this run made them, and the next command, or an error where the best epoch is of no use.
func (t *trainer) summarize(ctx context.Context, made bool) error {
	e, w := t.e, t.e.Workspace
	best, err := t.folder.Record(ctx, "best")
	if err != nil {
		return err
	}
	e.Say("")
	// The best epoch, by its validation metrics.
	if v := best.Valid; v != nil {
		e.Say("best: epoch %d, validation MRR %.4f, Hits@1 %.4f, Hits@10 %.4f over %s queries (pessimistic ranks)",
			best.Epoch, v.Pessimistic.MRR, v.Pessimistic.Hits1, v.Pessimistic.Hits10, progress.Count(v.Queries))
		if s := v.Sample; s != nil && s.Intervals != nil {
			e.Say("  a sample of %s queries: the 95%% intervals are %v, %v and %v", progress.Count(s.Of), s.Intervals.MRR, s.Intervals.Hits1, s.Intervals.Hits10)
		}
	} else {
		e.Say("best: epoch %d, the last: there are no validation queries to choose by", best.Epoch)
	}
	if text := doubt(best); text != "" {
		e.Say("  %s", text)
	}
	t.compare(best)
	if t.before > 0 && best.Valid != nil && best.Epoch <= t.before {
		e.Say("the epochs after %d, of --minutes, are no better than epoch %d", t.before, best.Epoch)
	}
	outputs := []string{storage.Join(w.Checkpoints(), best.Name()+".safetensors"), storage.Join(w.Checkpoints(), checkpoint.BestFile), w.TrainingLog()}
	if url := t.fit.URL(); url != "" {
		outputs = append(outputs, url)
	}
	e.Say("")
	e.Outputs(made, outputs...)
	if e := epochOf(best); e.Exploded() {
		return command.Diverged(errors.New(diverged(e, best.Configuration.LearningRate)))
	}
	t.next(ctx, best)
	return nil
}

// next prints the commands that list new facts, unless there is no graph, and that evaluate the best checkpoint on test queries, if there are some.
func (t *trainer) next(ctx context.Context, best checkpoint.Record) {
	w := t.e.Workspace
	var commands []workspace.Command
	scoring := w.Command("score")
	if t.bundles {
		scoring = scoring.With("--bundles")
	} else {
		commands = append(commands, w.ListStep(ctx))
	}
	switch evaluated, err := w.EvaluatedCheckpoint(ctx, w.Evaluation("test")); {
	case err == nil && evaluated.Weights != best.Weights.SHA256:
		commands = append(commands, scoring.With("--force"))
	case err == nil:
		commands = append(commands, w.Command("report"))
	case w.HasQueries(ctx, "test"):
		commands = append(commands, scoring)
	}
	t.e.Next(commands...)
}
