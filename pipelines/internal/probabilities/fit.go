package probabilities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/encode"
	"tagnet/stages/predict"
	"tagnet/stages/worker"
)

// Fit is the fit of a model's probabilities. A nil Fit stands for a model that has none: nothing is made, and
// there is no estimator.
//
// A command builds what --plan prints with Jobs, Loads and Seconds, and calls Make before its own job.
type Fit struct {
	e         *command.Environment
	model     *answer.Model // over all facts
	on        command.Resources
	params    predict.FitParams
	estimate  budget.Estimate
	allotment budget.Allotment
	folder    string // of the file
	// made is set if the model has its probabilities, tooFew if the graph has too few facts for some.
	made, tooFew bool
	queries      int64
	seconds      float64
	// What is presumed, and told by verdicts, was said.
	presumedSaid, toldSaid bool
}

// OpenFit finds out whether the probabilities of a model are fitted, and reads them. It writes nothing. For the
// outline of a graph it prints that there are none, and returns nil. A command that fits them has as much
// memory as Estimate says.
func OpenFit(ctx context.Context, e *command.Environment, m *answer.Model, on command.Resources) (*Fit, error) {
	if m.Graph.IsOutline() {
		e.Say("answers have scores, but no probabilities: these are fitted in the graph of all facts, which --bundles does not hold")
		return nil, nil
	}
	fitModel := answer.New(m.KG, m.Record, m.Parameters, answer.Resources{}) // the fit takes other threads and memory than the caller's model
	fitModel.Folder, fitModel.Configuration = m.Folder, m.Configuration
	all, err := fitModel.OverAllFacts(ctx)
	if err != nil {
		return nil, err
	}
	f := &Fit{e: e, model: all, on: on, folder: e.Workspace.Path(answer.ProbabilitiesFolder)}
	if err := f.read(ctx); f.Made() || err != nil {
		return f, err
	}
	sampling, err := predict.Sampling(ctx, all)
	if err != nil {
		return nil, err
	}
	f.queries = sampling.Work()
	sizes, err := encode.SizesOf(ctx, all.KG, kg.All)
	if err != nil {
		return nil, err
	}
	f.estimate = EstimateFit(sizes, all.Configuration)
	f.allotment = f.estimate.AllotLeast(on.Memory*budget.MiB, on.Threads)
	f.seconds, _ = e.Workspace.ScoreSeconds(ctx, sizes, all.Configuration, "test", f.queries)
	f.params = f.jobParams()
	return f, nil
}

// EstimateFit estimates the memory of a fit. s are the sizes of the graph of kg.All.
func EstimateFit(s budget.Sizes, c configuration.Configuration) budget.Estimate {
	size := probability.Size{Entities: int(s.Entities), Relations: int(s.Relations / 2), Facts: s.Edges / 2, K: probability.DefaultK}
	s.Queries = 0 // they are made where they are answered
	// Each fold's regression copies the observations.
	return budget.ForModel(s, c, budget.Use{Task: "fitting probabilities on this graph", Rows: 3 * size.Observations()})
}

// Estimate returns the estimate of the memory that the fit takes, nothing if it is made.
func (f *Fit) Estimate() budget.Estimate {
	if f.Made() {
		return budget.Estimate{}
	}
	return f.estimate
}

// jobParams returns the parameters of the output, without the folder's lock.
func (f *Fit) jobParams() predict.FitParams {
	m := f.model
	weights := m.Folder
	if weights == "" {
		weights = checkpoint.Folder(f.fitFolder())
	}
	return predict.FitParams{
		Folder: f.folder, File: m.ProbabilitiesFile(),
		Params: predict.Params{
			Model: predict.WorkerModel{
				Checkpoints: string(weights), Checkpoint: m.Record.Name(), Reach: m.Configuration.Reach, Threads: f.on.Threads,
				MostThreads: f.allotment.MaxThreads, Memory: f.on.Memory * budget.MiB, Kernel: f.e.Variant(f.on.Kernel), Device: f.on.Device,
			},
			Queries: workload.Params{QueriedGraph: workload.QueriedGraph{Graph: m.KG.Folder(), Split: kg.All, Without: m.KG.Unknown}},
		},
	}
}

// read reads the file, if there is one, and says so if it keeps that there are too few facts.
func (f *Fit) read(ctx context.Context) (err error) {
	f.made, err = f.model.ReadProbabilities(ctx, f.folder)
	if f.tooFew = errors.Is(err, probability.ErrTooFew); !f.tooFew {
		return err
	}
	f.e.Say("answers have scores, but no probabilities: too few facts of the graph are among the %d best answers of their queries", probability.DefaultK)
	return nil
}

// Made reports whether nothing is left to make.
func (f *Fit) Made() bool { return f == nil || f.made || f.tooFew }

// Jobs returns the Beam pipeline of the fit, without the folder's lock, or nothing if it is made.
func (f *Fit) Jobs() []*beam.Pipeline {
	if f.Made() {
		return nil
	}
	return []*beam.Pipeline{command.BeamPipeline(predict.Fit, f.params)}
}

// Loads returns the inputs of the pipeline's steps.
func (f *Fit) Loads() []command.Load {
	if f.Made() {
		return nil
	}
	return []command.Load{{Step: "predict.observe", Elements: f.queries, Unit: "queries that probabilities are fitted to, at most"}}
}

// Seconds returns about how many seconds of a core the fit takes at most.
func (f *Fit) Seconds() float64 {
	if f.Made() {
		return 0
	}
	return f.seconds
}

// Work returns the work of a command that has only the fit to make.
func (f *Fit) Work() command.Work {
	return command.Work{
		Jobs: func() ([]*beam.Pipeline, error) { return f.Jobs(), nil }, Memory: f.on.Memory, Count: f.queries,
		Unit:  "queries that probabilities are fitted to",
		Loads: f.Loads(), Cost: command.Cost{Seconds: f.Seconds(), AtMost: true},
	}
}

// URL returns the URL of the file, or "" if there is none.
func (f *Fit) URL() string {
	if f == nil || !f.made {
		return ""
	}
	return storage.Join(f.folder, f.model.ProbabilitiesFile())
}

// Ready returns the Ready of an output that needs the probabilities: it fails where they cannot be made, before the
// output's folder is touched, and calls ready otherwise.
func (f *Fit) Ready(ready func(context.Context) error) func(context.Context) error {
	if f.Made() {
		return ready
	}
	return func(ctx context.Context) error {
		if err := f.check(ctx); err != nil {
			return err
		}
		return ready(ctx)
	}
}

// fitFolder returns the folder, beside the file, of a fit that runs: it has the lock, and the weights that workers read
// there where no other folder holds them.
func (f *Fit) fitFolder() string { return storage.Join(f.folder, f.model.FitFolder()) }

// check fails where a symbolic link leads out of the folder, and while another run fits the same, unless
// Make would see its end.
func (f *Fit) check(ctx context.Context) error {
	if err := storage.CheckRegular(ctx, f.e.Workspace.Root(), f.folder); err != nil {
		return err
	}
	err := lock.CheckFree(ctx, f.fitFolder())
	if held := (*lock.Held)(nil); errors.As(err, &held) && held.IsAlive() {
		return nil
	}
	return f.shared(err)
}

// shared lets the error of a lock name what helps: no run takes a fit from another one that may be alive,
// not even with --force.
func (f *Fit) shared(err error) error {
	if held := (*lock.Held)(nil); errors.As(err, &held) {
		held.TakeOver = remedy.Do("remove %s", storage.Join(f.fitFolder(), lock.FileName))
	}
	return err
}

// Make fits the probabilities unless they are fitted, and says so if there are too few facts. It waits for another run
// of this machine that fits them. Where the workspace's folder cannot be written, it writes them into another, which
// the caller has locked, unless that is "". It is a *lock.Held error if a run fits them whose end would not be seen.
func (f *Fit) Make(ctx context.Context, another string, locked lock.Lock) error {
	if f.Made() {
		return nil
	}
	if err := f.check(ctx); err != nil {
		return err
	}
	err := storage.CheckWritable(ctx, f.folder)
	switch {
	case err == nil:
		err = f.makeShared(ctx)
	case another != "" && ctx.Err() == nil:
		f.e.Say("probabilities are fitted for this run alone: %v", err)
		f.folder = another
		f.params = f.jobParams()
		err = f.run(ctx, locked)
	}
	return err
}

// makeShared fits under the lock of the fit.
func (f *Fit) makeShared(ctx context.Context) error {
	held, err := f.await(ctx)
	if err != nil {
		return f.shared(err)
	}
	if err = f.read(ctx); err == nil && !f.Made() { // another run may have written the file before this one got the lock
		err = f.run(ctx, held)
	}
	return errors.Join(err, f.release(held, err != nil && !command.Local()))
}

// await returns the lock of the fit, and shows how long it waits for other runs that have it.
func (f *Fit) await(ctx context.Context) (lock.Lock, error) {
	var bar *progress.Bar
	process := 0
	held, err := lock.Await(ctx, f.fitFolder(), f.e.Again().String(), func(other *lock.Held) {
		if o := other.Owner; o.Process != process {
			if bar != nil {
				bar.End()
			}
			f.e.Progress.Print("waiting for process %d, which fits these probabilities since %s (%s)", o.Process, o.Begun.Format(time.DateTime+" MST"),
				o.Command)
			process, bar = o.Process, f.e.Progress.Begin(fmt.Sprintf("waiting for process %d", o.Process), 0, "")
		}
		bar.Set(0)
	})
	if bar != nil {
		bar.End()
	}
	return held, err
}

// run fits by a Beam pipeline, and reads the file that it wrote.
func (f *Fit) run(ctx context.Context, held lock.Lock) error {
	defer budget.Limit(f.on.Memory * budget.MiB)()
	guarded := held.Guard(ctx)
	if f.model.Folder == "" {
		weights := f.params.Model.Checkpoints
		if err := checkpoint.Folder(weights).Save(guarded, f.model.Record, f.model.Parameters.Tensors, nil); err != nil {
			return err
		}
		defer func() { // what is left is overwritten by the next fit of the same
			_ = storage.Clear(held.Guard(context.WithoutCancel(ctx)), weights, held.URL)
			storage.RemoveEmpty(context.WithoutCancel(ctx), weights)
		}()
	}
	f.announce(ctx)
	bar := f.e.Progress.Begin("fitting probabilities", f.queries, "queries")
	defer bar.End()
	defer bar.Follow(ctx, predict.QueriesCounter)()
	defer bar.Also("regressions", probability.Regressions, "steps").Follow(ctx, predict.RegressionsCounter)()
	p := f.params
	p.Lock = held
	if err := f.e.RunBeam(ctx, command.BeamPipeline(predict.Fit, p)); err != nil {
		return err
	}
	bar.Complete()
	return f.read(ctx)
}

// leastAnnounced is the least number of seconds that a fit is said to take beforehand.
var leastAnnounced = 3.

// announce says how long the fit of a model takes that comes trained: nobody has waited for a training. How long it
// takes on other machines than this one, nobody knows.
func (f *Fit) announce(ctx context.Context) {
	if f.model.Record.Epoch > 0 || command.Elsewhere() {
		return
	}
	f.model.Resources.Threads = worker.Threads(f.on.Threads, f.allotment.MaxThreads)
	speed, err := Speed(ctx, f.e, f.model, f.on, time.Second/2)
	if took := speed.Seconds(f.model.Configuration); err == nil && took > leastAnnounced { // else the fit says what is wrong
		f.e.Progress.Print("fitting probabilities: about %s, once for this graph and model", progress.Duration(time.Duration(took*float64(time.Second))))
	}
}

// Speed measures how fast this machine fits the probabilities of a model, whose threads it takes, for about a duration.
func Speed(ctx context.Context, e *command.Environment, m *answer.Model, on command.Resources, span time.Duration) (answer.FitSpeed, error) {
	k, err := kernel.Named(e.Variant(on.Kernel))
	if err != nil {
		return answer.FitSpeed{}, err
	}
	selected, err := accelerator.Select(accelerator.Process, on.Device, m.Configuration)
	if err != nil {
		return answer.FitSpeed{}, err
	}
	measured := answer.New(m.KG, m.Record, m.Parameters, answer.Resources{Kernel: k, Threads: m.Resources.Threads, Device: &selected})
	measured.Configuration = m.Configuration // with the reach
	over, err := measured.OverAllFacts(ctx)
	if err != nil {
		return answer.FitSpeed{}, err
	}
	defer over.Close()
	return over.FitSpeed(ctx, span)
}

// release frees the folder. Where workers may still be writing, the lock file stays and says that its run has ended.
func (f *Fit) release(held lock.Lock, workers bool) error {
	ctx := context.Background() // the run's own may be canceled
	if workers {
		return held.End(ctx)
	}
	err := held.Release(ctx)
	storage.RemoveEmpty(ctx, f.fitFolder())
	storage.RemoveEmpty(ctx, f.folder)
	return err
}

// Probabilities returns where workers read the probabilities of Estimator; the zero value if there are none.
func (f *Fit) Probabilities(ctx context.Context, presumed probability.Presumed) (predict.Probabilities, error) {
	if e, err := f.Estimator(presumed); e == nil || err != nil {
		return predict.Probabilities{}, err
	}
	file, err := manifest.HashFile(ctx, f.URL())
	return predict.Probabilities{Folder: f.folder, SHA256: file.SHA256, Presumed: presumed}, err
}

// Estimator returns the estimator of probabilities that presume a number of missing facts, and prints once what they
// presume. It is nil where there are too few facts.
func (f *Fit) Estimator(presumed probability.Presumed) (*probability.Estimator, error) {
	if f == nil || !f.made {
		return nil, nil
	}
	e, err := f.model.Estimator(presumed)
	if errors.As(err, new(*probability.UntoldError)) {
		err = command.Usage("--missing: %v", err)
	}
	if err != nil {
		return nil, err
	}
	if e != nil && !f.presumedSaid {
		f.presumedSaid = true
		f.e.Say("%s (--missing)", e.Text())
	}
	return e, nil
}

// Tell returns what verdicts tell of the number of facts that are missing, and prints it once.
func (f *Fit) Tell(ctx context.Context, verdicts answer.Verdicts) (told answer.Told, err error) {
	if f == nil || !f.made {
		return told, nil
	}
	if f.model.Resources.Kernel, err = kernel.Named(f.e.Variant(f.on.Kernel)); err != nil {
		return told, err
	}
	f.model.Resources.Threads = worker.Threads(f.on.Threads, f.allotment.MaxThreads)
	bar := f.e.Progress.Begin("reading verdicts", 0, "queries")
	defer bar.End()
	asked := int64(0)
	told, err = f.model.Tell(ctx, verdicts, f.folder, func(queries int) {
		asked += int64(queries)
		bar.Set(asked)
	})
	if !f.toldSaid {
		for _, line := range told.Lines(f.model.KG.Relations) {
			f.toldSaid = true
			f.e.Say("%s", line)
		}
	}
	return told, err
}
