package train

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/graph"
	"tagnet/stages/learn"
)

type flags struct {
	preset     string
	fields     []*field
	replicas   int
	resume     bool
	minutes    float64
	kernel     string
	validation checkpoint.Validation
	memory     int64

	configuration configuration.Configuration
	plan          budget.Plan // what memory allows
}

// Pipeline is go run ./pipelines/train.
func Pipeline() command.Pipeline {
	f := &flags{fields: fields()}
	return command.Pipeline{
		Name:    "train",
		Summary: "Learns a model from the training facts: every hyperparameter is a flag, and a preset sets them all.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.preset, "preset", "", "`name` of a configuration to start from: "+strings.Join(configuration.PresetNames(), ", "))
			for _, field := range f.fields {
				field.register(set)
			}
			set.IntVar(&f.replicas, "replicas", 0, "threads, 0 for one a core if --memory holds them; changes nothing in what is learned")
			set.BoolVar(&f.resume, "resume", false, "go on from the newest checkpoint")
			set.Float64Var(&f.minutes, "checkpoint_minutes", 10, "longest time between checkpoints, beside those of each epoch; at most 10")
			command.Kernel(set, &f.kernel, "variant of the kernels")
			set.IntVar(&f.validation.Every, "validate_every", 1, "epochs between validations; the last epoch is always validated")
			set.Int64Var(&f.validation.Limit, "valid_limit", 0, "most validation queries asked in an epoch, spread over all; 0 asks all")
			command.Memory(set, &f.memory)
		},
		Run: f.run,
	}
}

func (f *flags) check() error {
	var err error
	if f.configuration, err = configure(f.preset, f.fields); err != nil {
		return err
	}
	if err := command.CheckKernel(f.kernel); err != nil {
		return err
	}
	switch {
	case f.replicas < 0 || f.replicas > command.MostThreads:
		return command.FlagError("replicas", f.replicas, fmt.Sprintf("0 to %d", command.MostThreads))
	case !(f.minutes >= 0 && f.minutes <= 10):
		return command.FlagError("checkpoint_minutes", f.minutes, "0 to 10")
	case f.validation.Every < 1:
		return command.FlagError("validate_every", f.validation.Every, "1 or more")
	case f.validation.Limit < 0:
		return command.FlagError("valid_limit", f.validation.Limit, "0 or more")
	}
	return command.CheckMemory(f.memory)
}

// recorded is what decides the content of checkpoints, besides the seed and the graph.
type recorded struct {
	configuration.Configuration
	Validation checkpoint.Validation `json:"validation"`
}

func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := e.NotEmpty("one of "+strings.Join(configuration.PresetNames(), ", "), "preset"); err != nil {
		return err
	}
	w := e.Workspace
	loaded, inputs, err := w.OpenGraph(ctx)
	if err != nil {
		return err
	}
	sizes, err := graph.Sizes(ctx, w.Graph(), loaded.Manifest, "train", "valid")
	if err != nil {
		return err
	}
	if f.plan, err = e.Plan(budget.Train(sizes, f.configuration), f.memory, f.replicas); err != nil {
		return err
	}
	defer budget.Limit(f.memory * budget.MiB)()
	stage := workspace.Stage{
		Workspace: w, Name: "train", Folder: "checkpoints",
		Configuration: recorded{f.configuration, f.validation}, Seed: e.Seed,
		Inputs: inputs, Vocabulary: loaded.Vocabulary, Command: e.Again("resume"),
	}
	done, begin, err := f.decide(ctx, e, &stage, loaded)
	if err != nil {
		return err
	}
	if done {
		e.Say("%s is complete with the same configuration; --force trains anew", w.Checkpoints())
		return finish(ctx, e, false)
	}
	bundles, err := f.bundle(ctx, e, loaded, inputs)
	if err != nil {
		return err
	}
	if err := f.planWithBundles(ctx, e, sizes); err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	err = f.learn(ctx, e, &stage, bundles)
	if err == nil {
		err = f.publish(ctx, e, &stage, loaded)
	}
	if err != nil {
		stage.Pause() // the checkpoints are for --resume
		return err
	}
	return finish(ctx, e, true)
}

// publish completes the folder of checkpoints, if all of them are of this run.
func (f *flags) publish(ctx context.Context, e *command.Environment, stage *workspace.Stage, loaded *kg.KG) error {
	records, _, err := checkpoint.Folder(e.Workspace.Checkpoints()).Records(ctx)
	if err != nil {
		return err
	}
	if err := f.allSame(e, loaded, records); err != nil {
		return err
	}
	queries, err := loaded.Queries(ctx, "train")
	if err != nil {
		return err
	}
	rows := map[string]int64{"epochs": int64(f.configuration.Epochs), "facts": int64(len(queries) / 2)}
	return stage.Publish(ctx, rows)
}

// decide finds out whether there is anything to do. begin makes the folder ready for it, which
// takes away what is there: not before all that may refuse has been asked. A training is never
// thrown away unasked.
func (f *flags) decide(ctx context.Context, e *command.Environment, stage *workspace.Stage, loaded *kg.KG) (done bool, begin func() error, err error) {
	url := e.Workspace.Checkpoints()
	folder := checkpoint.Folder(url)
	_, err = manifest.Read(ctx, url)
	complete := !errors.Is(err, fs.ErrNotExist)
	if e.Force {
		return false, func() error {
			_, err := stage.Begin(ctx, true)
			return err
		}, nil
	}
	if err := stage.CheckFree(ctx); err != nil {
		return false, nil, err
	}
	nothing := func() error { return nil } // is left to be made ready
	records, damaged, err := folder.Records(ctx)
	if err != nil {
		return false, nil, err
	}
	if complete {
		if n := len(records); !f.resume || n == 0 || f.configuration.Epochs <= records[n-1].Epoch {
			done, err := stage.Begin(ctx, false)
			return done, nothing, err
		}
		if _, err := e.Workspace.Require(ctx, stage.Folder, stage.Command); err != nil {
			return false, nil, err
		}
	}
	if len(records) == 0 && len(damaged) == 0 {
		if f.resume {
			e.Say("there is no checkpoint to resume from: training from the beginning")
		}
		done, err := stage.Begin(ctx, false)
		return done, nothing, err
	}
	if err := f.allSame(e, loaded, records); err != nil {
		return false, nil, err
	}
	if !f.resume {
		again := e.Workspace.Command(stage.Command)
		return false, nil, fmt.Errorf("%s holds a training that is not finished: %s --resume goes on with it, %s --force starts over", url, again, again)
	}
	return false, func() error {
		if err := stage.Resume(ctx); err != nil || !complete {
			return err
		}
		// More epochs: it is not complete any more.
		return storage.Remove(ctx, storage.Join(url, manifest.FileName))
	}, nil
}

// allSame returns an error that says what differs if a checkpoint is of another run.
func (f *flags) allSame(e *command.Environment, loaded *kg.KG, records []checkpoint.Record) error {
	for _, r := range slices.Backward(records) {
		if err := f.same(e, loaded, r); err != nil {
			return err
		}
	}
	return nil
}

// same is allSame for one checkpoint.
func (f *flags) same(e *command.Environment, loaded *kg.KG, r checkpoint.Record) error {
	there := recorded{r.Configuration, r.Validation}
	there.Epochs = max(r.Epoch, f.configuration.Epochs) // more of them than planned at first are welcome
	different, err := differences(there, recorded{f.configuration, f.validation})
	if err != nil {
		return err
	}
	if r.Seed != e.Seed {
		different = append(different, fmt.Sprintf("seed is %d there, %d here", r.Seed, e.Seed))
	}
	if r.Vocabulary.Graph != loaded.Manifest.Checksum {
		different = append(different, "the graph was another")
	}
	if len(different) > 0 {
		return fmt.Errorf("%s of %s was written with another configuration (%s): give the flags that it had, or choose another --workspace, or %s --force starts over",
			r.Name(), e.Workspace.Checkpoints(), strings.Join(different, "; "), e.Workspace.Command(e.Again("resume")))
	}
	return nil
}

// learn runs the Beam pipeline that trains.
func (f *flags) learn(ctx context.Context, e *command.Environment, stage *workspace.Stage, bundles learn.Bundles) error {
	w := e.Workspace
	show := newDisplay(e)
	defer show.end()
	defer learn.Watch(show.tell)()
	// An interrupt is first told to the training in this process, which then writes a checkpoint,
	// and reaches the runner only if that goes on regardless, elsewhere.
	running, release := command.CancelLater(ctx, func() time.Duration {
		learn.Stop()
		return grace
	})
	defer release()
	_, err := e.RunBeam(running, Build(bundles, learn.Params{
		Graph: w.Graph(),
		Run: learn.Run{
			Checkpoints: w.Checkpoints(), History: w.TrainingLog(), Lock: stage.Lock(),
			Configuration: f.configuration, Seed: e.Seed, Validation: f.validation,
			Every:    time.Duration(f.minutes * float64(time.Minute)),
			Replicas: f.replicas, MostReplicas: f.plan.MaxThreads, Memory: f.memory * budget.MiB, Kernel: f.kernel,
		},
	}))
	if ctx.Err() == nil {
		return err
	}
	show.end()
	tellWhatIsKept(ctx, e)
	if err != nil && !strings.Contains(err.Error(), context.Canceled.Error()) { // of a DoFn's error its text is left
		e.Say("what was learned since then is lost: %v", err)
	}
	return context.Cause(ctx)
}

// tellWhatIsKept says where an interrupted training goes on.
func tellWhatIsKept(ctx context.Context, e *command.Environment) {
	folder := e.Workspace.Checkpoints()
	records, _, err := checkpoint.Folder(folder).Records(context.WithoutCancel(ctx))
	switch {
	case err != nil:
		e.Say("what is kept cannot be told: %v", err)
	case len(records) == 0:
		e.Say("%s holds no checkpoint yet", folder)
	default:
		e.Say("%s holds what was learned, up to %s: %s --resume goes on with it",
			folder, records[len(records)-1].Name(), e.Workspace.Command(e.Again("resume")))
	}
}

// grace is how long an interrupted training has to write its checkpoint.
const grace = 10 * time.Second

// Build makes the Beam pipeline that trains from bundles.
func Build(bundles learn.Bundles, p learn.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	learn.Learn(s, p, beam.Create(s, bundles))
	return pipeline
}

// finish tells what was learned, what is there, whether it was made now, and what comes next.
func finish(ctx context.Context, e *command.Environment, made bool) error {
	w := e.Workspace
	folder := checkpoint.Folder(w.Checkpoints())
	best, err := folder.Record(ctx, "best")
	if err != nil {
		return err
	}
	e.Say("")
	if v := best.Valid; v != nil {
		e.Say("best: epoch %d, validation MRR %.4f, Hits@1 %.4f, Hits@10 %.4f over %s queries (ties against the answer)",
			best.Epoch, v.Pessimistic.MRR, v.Pessimistic.Hits1, v.Pessimistic.Hits10, progress.Count(v.Queries))
	} else {
		e.Say("best: epoch %d, the last: there are no validation queries to choose by", best.Epoch)
	}
	e.Say("")
	e.Outputs(made, storage.Join(w.Checkpoints(), best.Name()+".safetensors"), storage.Join(w.Checkpoints(), checkpoint.BestFile), w.TrainingLog())
	score := "go run ./pipelines/score"
	if _, weights, err := w.EvaluatedCheckpoint(ctx, "test"); err == nil && weights != best.Weights.SHA256 {
		score += " --force" // what is there is of another checkpoint
	}
	e.Next(score)
	return nil
}
