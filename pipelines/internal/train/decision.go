package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/probabilities"
)

// step is what is done about the checkpoints that exist.
type step int

const (
	start    step = iota // there are none
	complete             // all epochs are trained: nothing is left to do
	fitOnly              // all epochs are trained, but no probabilities are fitted: --resume
	resume               // continue from the newest
	extend               // all epochs of an earlier run are trained, this one has more
	replace              // remove them: --force without --resume
)

// decision is what is to be done, by the flags and by what is on disk. Making one writes nothing.
type decision struct {
	*flags
	e     *command.Environment
	began time.Time // when the command was started

	folder   checkpoint.Folder
	records  []checkpoint.Record // that exist
	damaged  []*checkpoint.DamagedError
	loaded   *kg.KG // the graph, verified and loaded once for all choices; with --bundles without its edges
	inputs   map[string]string
	finished bool // the folder has a manifest
	timed    bool // the training is one for a time
	step     step
	// wantedSettings are the settings of the training. Those of a training for a time are completed by its plan.
	wantedSettings settings
	fit            *probabilities.Fit // of the best checkpoint, or nil until it is opened
}

// decide decides what to do with existing checkpoints. It changes nothing; only --force without
// --resume removes checkpoints. With --resume, --force takes over the lock of another run.
func (f *flags) decide(ctx context.Context, e *command.Environment) (*decision, error) {
	d := &decision{flags: f, e: e, began: time.Now(), folder: checkpoint.Folder(e.Workspace.Checkpoints())}
	if err := f.check(e); err != nil {
		return nil, err
	}
	var err error
	if d.records, d.damaged, err = d.folder.Records(ctx); err != nil {
		return nil, err
	}
	if d.timed, err = d.isTimed(ctx); err != nil {
		return nil, err
	}
	if !d.chooses() || d.anyChosen() {
		if d.wantedSettings, err = d.settingsOf(ctx, d.hyperparameters); err != nil {
			return nil, err
		}
		if err := d.checkBundles(d.wantedSettings.Configuration); err != nil {
			return nil, err
		}
	}
	if d.timed && d.resume && d.wantedSettings.Workers > 1 {
		return nil, ofOneWorker(d.wantedSettings.Workers)
	}
	if d.loaded, d.inputs, err = e.Workspace.Open(ctx, d.bundles); err != nil {
		return nil, err
	}
	d.step, err = d.nextStep(ctx)
	return d, err
}

// chooses reports whether --minutes chooses the settings, among several or in their amounts: no checkpoints are kept
// that decide them.
func (d *decision) chooses() bool { return d.timed && (len(d.records) == 0 || d.e.Force && !d.resume) }

// continues reports whether checkpoints that exist decide settings that are not given.
func (d *decision) continues() bool { return d.resume || d.timed && !d.chooses() }

// nextStep decides what follows on the checkpoints that exist.
func (d *decision) nextStep(ctx context.Context) (step, error) {
	_, err := manifest.Read(ctx, string(d.folder))
	d.finished = !errors.Is(err, fs.ErrNotExist)
	if d.e.Force && !d.resume {
		return replace, nil
	}
	if d.finished && err != nil && !errors.Is(err, manifest.ErrDamaged) { // whether there is one is not known
		return 0, err
	}
	if !d.e.Force {
		if err := d.output().CheckFree(ctx); err != nil {
			return 0, keepCheckpoints(err)
		}
	}
	if d.finished {
		return d.afterComplete(ctx)
	}
	if len(d.records) == 0 && len(d.damaged) == 0 {
		if d.resume {
			return start, d.resumeNothing(ctx)
		}
		return start, nil
	}
	return resume, d.mayResume()
}

// afterComplete decides what follows on a complete training: it is extended if it is to have more epochs.
func (d *decision) afterComplete(ctx context.Context) (step, error) {
	n, again := len(d.records), d.command()
	if d.chooses() { // there is nothing to compare: the checkpoints are gone, and the settings are not chosen yet
		if _, err := d.e.Workspace.Require(ctx, d.e.Workspace.CheckpointsFolder(), again); err != nil {
			return 0, err
		}
	}
	patience := d.wantedSettings.Validation.Patience
	stopped := n > 0 && learn.Stopped(d.records, patience)
	if stopped && d.timed && d.resume {
		return 0, fmt.Errorf("%s ended by --patience %d, and is not continued: %s with another --patience trains again", d.folder, patience,
			again.With("--force"))
	}
	more := n > 0 && !stopped && (d.wantedSettings.Epochs > d.records[n-1].Epoch || d.timed && d.resume)
	if more && !d.resume && d.sameRun(d.records) == nil {
		last := d.records[n-1].Epoch
		return 0, fmt.Errorf("%s is complete with %d epochs: %s trains %d more, %s trains all %d again",
			d.folder, last, again.With("--resume"), d.wantedSettings.Epochs-last, again.With("--force"), d.wantedSettings.Epochs)
	}
	if more && d.resume {
		if _, err := d.e.Workspace.Require(ctx, d.e.Workspace.CheckpointsFolder(), again); err != nil {
			return 0, err
		}
		return extend, d.mayResume()
	}
	done, err := d.output().Begin(ctx, false)
	if err != nil || !done {
		return start, err
	}
	if n > 0 && d.sameRun(d.records) == nil {
		if missing, err := d.unfitted(ctx); missing || err != nil {
			return fitOnly, err
		}
	}
	return complete, nil
}

// mayResume returns an error unless the checkpoints are those of this training, and --resume is given.
func (d *decision) mayResume() error {
	if err := d.sameRun(d.records); err != nil {
		return err
	}
	if !d.resume {
		again := d.command()
		return fmt.Errorf("%s holds an unfinished training: continue it with %s --resume, or start over with %s --force", d.folder, again, again)
	}
	return nil
}

// resumeNothing returns an error if --resume alone is given and a run with other flags was interrupted before its first
// checkpoint: there are no flags to take, and it would train with the defaults. Otherwise it says that the training
// starts from the beginning.
func (d *decision) resumeNothing(ctx context.Context) error {
	before, err := lock.LastCommand(ctx, string(d.folder))
	if err != nil {
		return err
	}
	alone := !d.timed && d.command().With("--resume").String() == d.resumed().String() // no flag that a checkpoint has is given
	if alone && before != "" && before != d.command().String() {
		return fmt.Errorf("there is no checkpoint to resume from, and so none whose flags --resume can take; this starts the interrupted training again: %s",
			before)
	}
	d.e.Say("there is no checkpoint to resume from: training from the beginning")
	return nil
}

// output returns the folder of checkpoints that the training makes.
func (d *decision) output() *workspace.Output {
	w := d.e.Workspace
	return &workspace.Output{
		Workspace: w, Name: "train", Folder: w.CheckpointsFolder(), Inputs: d.inputs, Vocabulary: d.loaded.Vocabulary, Seed: d.wantedSettings.seed,
		Configuration: d.wantedSettings.recorded, OutlivesInputs: true, Resumed: true, Command: d.command(), WrittenOutside: []string{w.TrainingLog()},
	}
}

// command returns the command line that makes this training.
func (d *decision) command() workspace.Command { return d.e.Again("resume", "minutes") }

// resumed returns the command line that resumes this run, without the flags that --resume takes from the checkpoint.
func (d *decision) resumed() workspace.Command {
	without := []string{"resume", "minutes", "preset", "from", "seed", "validate_every", "valid_limit", "patience", "workers", "local_steps"}
	for _, f := range d.fields {
		without = append(without, f.Name)
	}
	return d.e.Again(without...).With("--resume")
}

// keepCheckpoints adds to the error of a folder that another run is writing how to take it over
// and keep its checkpoints.
func keepCheckpoints(err error) error {
	if held := new(lock.Held); errors.As(err, &held) {
		return fmt.Errorf("%w; --resume --force keeps its checkpoints, --force alone removes them", err)
	}
	return err
}

// sameRun returns an error that lists the differences if a checkpoint was written by a run with other parameters.
func (d *decision) sameRun(records []checkpoint.Record) error {
	for _, r := range slices.Backward(records) {
		different, err := d.differs(r)
		if err != nil {
			return err
		}
		startOver := d.command().With("--force")
		remedy := fmt.Sprintf("%s continues it, another --workspace or %s starts over", d.e.Workspace.Command("train", "--resume"), startOver)
		if r.Vocabulary.Graph != d.loaded.Manifest.Checksum {
			different = append(different, "the graph is another")
			remedy = fmt.Sprintf("use another --workspace, or %s to start over", startOver)
		}
		if len(different) > 0 {
			return fmt.Errorf("%s of %s was written with another configuration (%s): %s", r.Name(), d.folder, strings.Join(different, "; "), remedy)
		}
	}
	return nil
}

// differs lists in what the settings of a checkpoint differ from those that are wanted, other than in what a resumed
// training may change.
func (d *decision) differs(r checkpoint.Record) ([]string, error) {
	there, here := recorded{r.Configuration.Resumed(d.wantedSettings.Configuration), r.Rounds, r.Validation, r.Origin}, d.wantedSettings.recorded
	there.Epochs = max(r.Epoch, here.Epochs)
	there.Workers, here.Workers = max(1, there.Workers), max(1, here.Workers)
	different, err := workspace.Differences(there, here)
	if err != nil {
		return nil, err
	}
	if rate := steps.LearningRate(d.wantedSettings.Configuration, r.Epoch); r.Partial == nil && r.LearningRate != rate {
		different = append(different, fmt.Sprintf("the learning rate is %g there, %g here", r.LearningRate, rate))
	}
	if r.Seed != d.wantedSettings.seed {
		different = append(different, fmt.Sprintf("seed is %d there, %d here", r.Seed, d.wantedSettings.seed))
	}
	return different, nil
}

// checkBundles returns an error if --bundles is given for a training that needs the graph.
func (d *decision) checkBundles(c configuration.Configuration) error {
	switch {
	case !d.bundles:
		return nil
	case c.Reach == 0:
		return command.Usage("--bundles reads the parts of the graph that queries propagate through with --reach, and that is 0: add --reach, or leave " +
			"--bundles out")
	case c.SeveralAnswers():
		return command.Usage("--bundles with --answers_per_query %d: the parts of the graph are for queries of one answer; leave one of the two out",
			c.AnswersPerQuery)
	case d.from != "":
		return command.Usage("--bundles with --from: a training from parts of the graph begins with initial weights; leave one of the two out")
	case c.Source() == configuration.RelationsGraph:
		return command.Usage("--bundles with --relations graph: the graph of relations is made from all edges; leave one of the two out")
	}
	return nil
}
