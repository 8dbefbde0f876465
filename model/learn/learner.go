package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"time"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/device"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Run holds the parameters of a training. Data holds its inputs.
type Run struct {
	// Checkpoints is the folder of checkpoints, History the file training.jsonl. Both are empty for a
	// training in memory.
	Checkpoints, History string
	// Lock is the lock of the folder. All files are written in the context of its Guard, so that two
	// trainings never mix their checkpoints. The zero Lock is never lost.
	Lock          lock.Lock
	Configuration configuration.Configuration
	Seed          int64
	Validation    metrics.Validation
	// Rounds divides the training among several workers; see Tasks. Train wants it zero.
	Rounds configuration.Rounds
	// Every is the longest time between checkpoints.
	Every time.Duration
	// Threads is the number of threads; 0 is one per core, at most MostThreads (unless that is
	// 0). It changes no bit of the weights.
	Threads, MostThreads int
	// Memory is the budget of the process in bytes, which limits its garbage; 0 for none.
	Memory int64
	// Kernel names the variant of the kernels; see kernel.Named.
	Kernel string
	// Device chooses the CPU or devices. A device rounds differently from the kernels.
	Device device.Choice
}

// Data holds the inputs of a training.
type Data struct {
	// TrainingGraph is the graph, Vocabulary identifies it.
	TrainingGraph
	Vocabulary checkpoint.Vocabulary
	// Mixture are several graphs, or nil. With them the TrainingGraph, Vocabulary, Valid and ValidOn are left out, and
	// the CPU computes.
	Mixture *Mixture
	// Valid are the validation queries; without any there is no validation.
	Valid []answer.Request
	// ValidAll is the number of all validation queries, of which Valid has a sample; 0 if Valid has all.
	ValidAll int64
	// ValidParts, in place of Valid, has the queries with the parts of the graph that they propagate through.
	ValidParts *workload.Parts
	// ValidOn is the graph of the validation queries, or nil for the training graph.
	ValidOn *kg.View
	// Devices are this machine's devices. They may be nil where Run.Device is the CPU.
	Devices accelerator.Devices
	// Replan, unless it is nil, is called after epochs that are validated: the training then has as
	// many as end in time.
	Replan Replan
}

// NewData returns the inputs of a training on a graph, without validation queries, devices and a relation graph.
func NewData(ctx context.Context, loaded *kg.KG) (Data, error) {
	d := Data{
		TrainingGraph: TrainingGraph{Graph: loaded.Train.Graph, Entities: loaded.Train.Entities, BaseRelations: loaded.Relations},
		Vocabulary:    checkpoint.VocabularyOf(loaded),
	}
	var err error
	d.Train, err = steps.NewTrainingSet(ctx, loaded)
	return d, err
}

// Close closes the files of parts of the graph.
func (d Data) Close() error {
	err := d.Train.Close()
	if d.ValidParts != nil {
		err = errors.Join(err, d.ValidParts.Close())
	}
	return err
}

// learner is a running training.
type learner struct {
	Run
	Data
	folder           checkpoint.Folder
	kernel           kernel.Kernel
	device           accelerator.Selection
	parameters       *parameters.Set[float32]
	average          *parameters.Set[float32] // of the weights over the finished epochs, or nil
	solver           *steps.Adam
	source           stepSource
	current          *trainingGraph // whose trainer made the last step, or is to make the first
	validationGraphs []ValidationGraph
	ahead            bool            // the trainer has made steps that are not stored in parameters and solver
	examples         []steps.Example // of the current step
	upcoming         upcoming
	history          []metrics.Epoch
	finished         []checkpoint.Record // of the epochs
	report           func(Progress)

	record       checkpoint.Record // of the newest checkpoint; Epoch 0 before the first
	epoch        int               // the current one
	partial      checkpoint.Partial
	saved        time.Time // when the newest checkpoint was written
	started      time.Time // when the epoch would have started without interruptions
	planned      planned
	steps        int   // of the epoch
	queries      int64 // of the epoch, about
	validQueries int64
}

// Train trains until all epochs are done, from the newest complete checkpoint of the folder, or from
// initial weights if there is none. It returns the record of the last epoch. report, which may be nil,
// is called after each step.
//
// Equal data, configuration, seed, validation and kernel give equal checkpoints, whatever the number
// of threads and of interruptions. When ctx is canceled, Train writes a last, complete checkpoint and
// returns the cause.
func Train(ctx context.Context, run Run, data Data, report func(Progress)) (checkpoint.Record, error) {
	l := newLearner(run, data, report)
	if err := l.run(ctx); err != nil {
		return checkpoint.Record{}, err
	}
	return l.record, nil
}

// run implements Train.
func (l *learner) run(ctx context.Context) error {
	return l.close(l.train(ctx))
}

// close frees the trainers' memory after a training with an error or nil, and returns the first error.
func (l *learner) close(err error) error {
	err = cmp.Or(err, l.freeTrainers())
	l.device.Discard(err)
	return err
}

// newLearner returns the learner of a run on one graph or a mixture. report may be nil.
func newLearner(run Run, data Data, report func(Progress)) *learner {
	if report == nil {
		report = func(Progress) {}
	}
	l := &learner{Run: run, Data: data, folder: checkpoint.Folder(run.Checkpoints), report: report}
	if data.Mixture != nil {
		l.source, l.validationGraphs = newMixed(data.Mixture, run.Configuration, uint64(run.Seed)), data.Mixture.ValidationGraphs
		return l
	}
	l.current = &trainingGraph{TrainingGraph: data.TrainingGraph}
	l.source = &single{graph: l.current, configuration: run.Configuration, seed: uint64(run.Seed)}
	if len(data.Valid) > 0 || data.ValidParts != nil {
		l.validationGraphs = []ValidationGraph{data.validationGraph()}
	}
	return l
}

func (d Data) validationGraph() ValidationGraph {
	t := ValidationGraph{Graph: d.Graph, Relations: d.Relations, Entities: d.Entities, BaseRelations: d.BaseRelations, Queries: d.Valid, Parts: d.ValidParts,
		All: d.ValidAll}
	if d.ValidOn != nil {
		t.Graph, t.Relations, t.Entities = d.ValidOn.Graph, nil, d.ValidOn.Entities
	}
	return t
}

// train makes all epochs, and leaves the trainer open.
func (l *learner) train(ctx context.Context) error {
	ctx = l.Lock.Guard(ctx)
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if err := l.validateStart(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return context.Cause(ctx) // the checkpoint before the first step is kept
		}
		return err
	}
	l.planned = planned{l.Configuration.Epochs, l.epoch - 1, time.Now()}
	for l.epoch <= l.Configuration.Epochs && !Stopped(l.finished, l.Validation.Patience) {
		err := l.trainEpoch(ctx)
		if err == nil {
			err = l.finishEpoch(ctx)
		}
		if err == nil {
			err = l.replan(ctx)
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = l.stop(ctx)
		}
		if err != nil {
			return err
		}
	}
	return l.settle(ctx)
}

// prepare makes the weights, the solver and the trainer, initialized or from the newest checkpoint.
func (l *learner) prepare(ctx context.Context) error {
	if err := l.Lock.Check(ctx); err != nil {
		return err
	}
	if err := l.initialize(); err != nil {
		return err
	}
	if err := l.resume(ctx); err != nil {
		return err
	}
	l.announce()
	if l.current != nil {
		if err := l.makeTrainer(); err != nil {
			return err
		}
	}
	l.begin()
	return nil
}

// initialize makes the initial weights and a solver before its first step.
func (l *learner) initialize() error {
	var err error
	if l.kernel, err = kernel.Named(l.Kernel); err != nil {
		return err
	}
	computed := l.Configuration
	if l.Mixture == nil {
		computed = computed.Within(l.Graph.Entities)
	}
	if l.device, err = accelerator.Select(l.Devices, l.Device, computed); err != nil {
		return err
	}
	if l.Threads <= 0 {
		l.Threads = runtime.GOMAXPROCS(0)
		if l.MostThreads > 0 {
			l.Threads = min(l.Threads, l.MostThreads)
		}
	}
	c := l.Configuration
	l.parameters = parameters.Initialize(parameters.Layout(c, l.relationCount()), steps.WeightsSeed(uint64(l.Seed)))
	l.average = nil
	l.solver = steps.NewSolver(c, l.relationCount(), l.kernel)
	l.epoch = 1
	l.steps, l.queries = l.source.begin(l.epoch)
	return nil
}

// relationCount is the number of relations that weights may belong to, 0 with several graphs: weights
// belong to none then.
func (l *learner) relationCount() int {
	if l.Mixture != nil {
		return 0
	}
	return l.Graph.RelationCount()
}

// begin starts the clock of the epoch.
func (l *learner) begin() {
	l.saved = time.Now()
	l.started = l.saved.Add(-time.Duration(l.partial.Seconds * float64(time.Second)))
	l.validQueries = 0
	for _, t := range l.validationGraphs {
		l.validQueries += t.rows()
	}
}

// resume reads the newest complete checkpoint, if there is one, and removes later ones.
func (l *learner) resume(ctx context.Context) error {
	if l.folder == "" {
		return nil
	}
	state, damaged, err := l.folder.Newest(ctx)
	var all *checkpoint.DamagedError
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		return storage.Remove(ctx, l.History) // left by a training whose checkpoints were removed
	case errors.As(err, &all):
		return remedy.Errorf(remedy.Do("use %v to train from the beginning", remedy.Flag("force")), "%w", err)
	case err != nil:
		return err
	}
	r := state.Record
	if err := l.sameRun(r); err != nil {
		return err
	}
	if err := l.restore(state); err != nil {
		return err
	}
	if err := l.folder.RemoveAfter(ctx, r); err != nil {
		return err
	}
	if err := l.folder.Prune(ctx); err != nil { // the training may have been killed before it did
		return err
	}
	if r.Partial != nil {
		l.epoch, l.partial = r.Epoch, *r.Partial
	} else if err := l.folder.MarkBest(ctx); err != nil { // the file may name an epoch that was removed
		return err
	}
	if l.finished, _, err = l.folder.Records(ctx); err != nil {
		return err
	}
	epochs, err := metrics.ReadHistory(ctx, l.History)
	if err != nil {
		return err
	}
	for _, e := range epochs {
		if e.Epoch < l.epoch {
			l.history = append(l.history, e)
		}
	}
	p := l.progress(0)
	p.Resumed = r.Name()
	if n := len(l.history); n > 0 && l.history[n-1].Kernel != l.computedBy() {
		p.OtherKernel = l.history[n-1].Kernel
	}
	for _, d := range damaged {
		p.Damaged = append(p.Damaged, d.Error())
	}
	l.report(p)
	return nil
}

// restore sets the weights and the solver's state to a checkpoint's, also the trainers' copies. The next epoch
// follows the checkpoint's.
func (l *learner) restore(state checkpoint.State) error {
	r := state.Record
	moments, err := l.restoreWeights(state)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", r.Name(), l.folder, err)
	}
	if err := l.solver.Restore(moments, r.Step); err != nil {
		return fmt.Errorf("%s of %s: %w", r.Name(), l.folder, err)
	}
	l.record, l.epoch = r, r.Epoch+1
	return l.load()
}

// sameRun returns an error unless the record belongs to this training.
func (l *learner) sameRun(r checkpoint.Record) error {
	if r.Configuration.Resumed(l.Configuration) != l.Configuration || r.Seed != l.Seed || r.Validation != l.Validation || r.Rounds != l.Rounds ||
		r.Vocabulary.Hash != l.Vocabulary.Hash || r.Vocabulary.Graph != l.Vocabulary.Graph || !reflect.DeepEqual(r.Mixture, l.mixture()) {
		return fmt.Errorf("%s of %s belongs to a training with another configuration, seed or graph", r.Name(), l.folder)
	}
	if r.Epoch > l.Configuration.Epochs {
		return remedy.Errorf(remedy.Do("give more %v", remedy.Flag("epochs")),
			"%s of %s is later than epoch %d, the last of this training", r.Name(), l.folder, l.Configuration.Epochs)
	}
	return nil
}

// trainEpoch makes the remaining steps of the epoch.
func (l *learner) trainEpoch(ctx context.Context) error {
	l.solver.LearningRate = l.learningRate()
	l.steps, l.queries = l.source.begin(l.epoch)
	if at := l.partial.Step; at > l.steps {
		return remedy.Errorf(remedy.Do("use %v to train from the beginning", remedy.Flag("force")),
			"%s of %s says that %d of the %d batches of epoch %d are trained",
			l.record.Name(), l.folder, at, l.steps, l.epoch)
	}
	for l.partial.Step < l.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.trainBatch(l.partial.Step, l.partial.Step+1); err != nil {
			return err
		}
		l.report(l.progress(0))
		if time.Since(l.saved) >= l.Every {
			if err := l.savePartial(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// trainBatch makes a step of the epoch, and adds it to partial. next is the step to prepare
// meanwhile, l.steps for none.
func (l *learner) trainBatch(index, next int) error {
	batch, err := l.source.at(index)
	if err != nil {
		return err
	}
	l.current = batch.trainingGraph
	if err := l.makeTrainer(); err != nil {
		return err
	}
	if err := l.readExamples(batch, index); err != nil {
		return fmt.Errorf("epoch %d, step %d of %d: %w", l.epoch, index+1, l.steps, err)
	}
	var result steps.Result
	if len(l.examples) == 0 {
		err = l.skipStep()
	} else {
		// A device prepares the next step during this one.
		l.announceStep(next)
		result, err = l.step(l.examples, l.stepSeed(index))
	}
	if err == nil && (math.IsNaN(result.Loss) || math.IsInf(result.Loss, 0)) {
		err = fmt.Errorf("loss %g: %w", result.Loss, steps.ErrNotFinite)
	}
	if err != nil {
		return fmt.Errorf("epoch %d, step %d of %d: %w", l.epoch, index+1, l.steps, l.explain(err))
	}
	// The result has the mean loss; records have sums.
	learned := int64(0)
	for _, e := range l.examples {
		learned += int64(e.Answers())
	}
	loss := result.Loss * float64(learned)
	l.partial.Step++
	l.partial.Loss += loss
	l.partial.Queries += int64(len(batch.draws))
	l.partial.LeftOut += int64(len(batch.draws)) - learned
	l.partial.Messages += result.Messages
	if n := l.source.graphs(); n > 0 {
		if len(l.partial.Graphs) != n {
			l.partial.Graphs = make([]checkpoint.Part, n)
		}
		part := &l.partial.Graphs[batch.graph]
		part.Steps++
		part.Queries += learned
		part.Loss += loss
	}
	return nil
}

// stop writes a checkpoint of the steps since the last one, of an epoch that is not finished or not
// validated, and returns the cause of the cancellation.
func (l *learner) stop(ctx context.Context) error {
	if err := l.store(); err != nil {
		return err
	}
	if l.solver.Steps() > l.record.Step {
		if err := l.savePartial(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (l *learner) learningRate() float64 { return steps.LearningRate(l.Configuration, l.epoch) }

// explain names the query in the error of a step or of a validation, adds a remedy, and names the checkpoint that
// remains. A training in memory has no remedy and no checkpoint.
func (l *learner) explain(err error) error {
	if at := l.current; at != nil {
		err = graph.Named(err, at.Entities, at.BaseRelations)
		if at.name != "" {
			err = fmt.Errorf("graph %s: %w", at.name, err)
		}
	}
	if l.folder == "" {
		return err
	}
	help, kept := remedy.Do("try a lower %v: that of this epoch is %g", remedy.Flag("learning_rate"), l.learningRate()), "there is no checkpoint yet"
	if l.record.Epoch > 0 {
		kept = fmt.Sprintf("the last checkpoint, %s, is kept", l.record.Name())
	}
	resume, cpu := remedy.Flag("resume"), remedy.Flag("resume").With(remedy.Flag("device", "cpu"))
	switch {
	case errors.Is(err, steps.ErrNoNegatives):
		help = remedy.Do(`set "strict_negatives": false in a file of %v to draw known answers too`, remedy.Flag("preset"))
	case l.device.Accelerator() == nil || Diverged(err):
	case errors.Is(err, device.ErrOldDriver) || errors.Is(err, device.ErrRefused):
		return fmt.Errorf("%w; %s", err, kept) // it has a remedy
	case errors.Is(err, device.ErrMemory):
		help = remedy.Do("end other processes on the GPU, or continue on the CPU with %v", cpu)
	default:
		help = remedy.Do("continue with %v, or on the CPU with %v", resume, cpu)
	}
	return remedy.Errorf(remedy.Do("%v; %s", help, kept), "%w", err)
}

// Diverged reports whether a loss, a gradient or a score that is not finite ended a training: the hyperparameters are
// the cause, not the machine.
func Diverged(err error) bool {
	return errors.Is(err, steps.ErrNotFinite) || errors.As(err, new(steps.NotFiniteError)) || errors.Is(err, inference.ErrNotFinite)
}

// finishEpoch validates, and writes the epoch's line of training.jsonl and its checkpoint. The line
// comes first: resume removes a line without a checkpoint, but could not restore a missing line.
func (l *learner) finishEpoch(ctx context.Context) error {
	if time.Since(l.saved) >= min(l.Every, time.Minute) {
		if err := l.savePartial(ctx); err != nil { // validation may take long
			return err
		}
	}
	if l.partial.LeftOut == l.partial.Queries {
		return fmt.Errorf("epoch %d: %w", l.epoch,
			l.explain(fmt.Errorf("none of its %d training queries has negatives: %w", l.partial.Queries, steps.ErrNoNegatives)))
	}
	// Validation frees the trainers, which store their weights first.
	if err := l.store(); err != nil {
		return err
	}
	weights := l.averaged()
	valid, trials, err := l.validate(ctx, weights)
	if err != nil {
		return err
	}
	if l.Configuration.WeightAverage > 0 {
		l.average = weights
	}
	ctx = context.WithoutCancel(ctx) // an interrupt does not abort the checkpoint
	r, err := l.newRecord()
	if err != nil {
		return err
	}
	r.Loss = l.partial.MeanLoss()
	r.Messages = l.partial.Messages
	r.LearningRate = l.learningRate()
	r.Valid = valid
	line := metrics.Epoch{
		Epoch: l.epoch, Loss: r.Loss, EqualScores: l.Configuration.EqualScores(), Valid: valid, LearningRate: r.LearningRate,
		Seconds: time.Since(l.started).Seconds(),
		Queries: l.partial.Queries, LeftOut: l.partial.LeftOut, Messages: r.Messages, Steps: r.Step, Kernel: l.computedBy(), Graphs: l.parts(), Trials: trials,
	}
	l.history = append(l.history, line)
	if l.folder != "" {
		if err := metrics.WriteHistory(ctx, l.History, l.history); err != nil {
			return err
		}
	}
	if err := l.save(ctx, r); err != nil {
		return err
	}
	l.finished = append(l.finished, l.record)
	p := l.progress(0)
	p.Finished = &line
	l.report(p)
	if Stopped(l.finished, l.Validation.Patience) {
		p.Finished, p.Notice = nil, fmt.Sprintf("no better validation in %d epochs: the training ends", l.Validation.Patience)
		l.report(p)
	}
	l.epoch++
	l.partial = checkpoint.Partial{}
	l.started = time.Now()
	return nil
}

// savePartial writes a checkpoint inside the epoch. An interrupt does not abort it.
func (l *learner) savePartial(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	r, err := l.newRecord()
	if err != nil {
		return err
	}
	partial := l.partial
	partial.Graphs = slices.Clone(partial.Graphs)
	partial.Seconds = time.Since(l.started).Seconds()
	r.Partial = &partial
	return l.save(ctx, r)
}

// newRecord returns the record of a checkpoint, after all steps so far.
func (l *learner) newRecord() (checkpoint.Record, error) {
	if err := l.store(); err != nil {
		return checkpoint.Record{}, err
	}
	return checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion,
		Configuration: l.Configuration, Seed: l.Seed, Validation: l.Validation, Rounds: l.Rounds,
		Epoch: l.epoch, Step: l.solver.Steps(), Vocabulary: l.Vocabulary, Mixture: l.mixture(),
		Origin: l.record.Origin, Start: l.record.Start,
	}, nil
}

// save makes a checkpoint the newest one, and removes the checkpoints that it replaces.
func (l *learner) save(ctx context.Context, r checkpoint.Record) error {
	if l.folder == "" {
		l.record = r
		return nil
	}
	weights, state := l.stored()
	if err := l.folder.Save(ctx, r, weights, state); err != nil {
		return fmt.Errorf("saving a checkpoint: %w", err)
	}
	l.record, l.saved = r, time.Now()
	if r.Partial == nil {
		if err := l.folder.MarkBest(ctx); err != nil {
			return err
		}
	}
	return l.folder.Prune(ctx)
}
