// Command gpu verifies, measures and trains on a CUDA device, in one run of limited time on a machine that need not have Go or the
// repository. It carries the kernels and the golden cases, and writes what it found, and the training's checkpoints, in a few files of
// limited size.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"tagnet/formats/storage"
	"tagnet/infra/internal/program"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/cuda"
	"tagnet/model/device/interpreter"
	"tagnet/model/kg"
	"tagnet/model/ultra"
)

func main() {
	start := time.Now()
	os.Exit(program.Run("gpu", "interrupted; what --out holds is complete, and --resume continues a training there", func(ctx context.Context, arguments []string, out, _ io.Writer) error {
		return run(ctx, arguments, out, time.Now, start)
	}))
}

// published stands for the configuration of ULTRA's published weights.
const published = "ultra"

// options are the flags.
type options struct {
	workspace, preset          string
	out, resume, join          string
	device                     string
	minutes, checkpointMinutes float64
	epochs, batchSize          int
	steps                      int
	seed                       int64
	split                      string
	skipVerify, skipMeasure    bool
	skipTraining               bool
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("gpu", flag.ContinueOnError)
	set.StringVar(&o.workspace, "workspace", "workspace", "`folder` of a workspace with a graph, made by preprocess")
	set.StringVar(&o.preset, "preset", "fb15k-237", "`name` of the configuration, "+configuration.PresetsHelp()+"; or "+published+", that of ULTRA's published weights")
	set.StringVar(&o.out, "out", "out", "`folder` for the log, the measurements and the training's newest checkpoint")
	set.StringVar(&o.resume, "resume", "", "resume the training in the `folder` that an earlier run wrote with --out")
	set.StringVar(&o.join, "join", "", "only put the checkpoints of a `folder` that was written with --out into the workspace")
	set.StringVar(&o.device, "device", "cuda", "cuda, cuda:n, or interpreter, which takes hours and is for tests")
	set.Float64Var(&o.minutes, "minutes", 9, "end after this time, with a checkpoint")
	set.Float64Var(&o.checkpointMinutes, "checkpoint_minutes", 2, "longest time between checkpoints")
	set.IntVar(&o.epochs, "epochs", 0, "train this many epochs; 0 takes the preset's")
	set.IntVar(&o.batchSize, "batch_size", 0, "queries of a step; 0 takes the preset's")
	set.IntVar(&o.steps, "steps", 200, "steps to measure")
	set.Int64Var(&o.seed, "seed", 0, "seed of the training")
	set.StringVar(&o.split, "score", "", "score this `split`, test or valid, at the end even if the training is not complete")
	set.BoolVar(&o.skipVerify, "skip_verify", false, "do not verify the device with the golden cases")
	set.BoolVar(&o.skipMeasure, "skip_measure", false, "do not measure steps and scoring")
	set.BoolVar(&o.skipTraining, "skip_training", false, "do not train")
	if err := program.Parse(set, "Verifies, measures and trains on a CUDA device, in one run of limited time.", arguments, diagnostics); err != nil {
		return o, err
	}
	switch {
	case !(o.minutes > 0):
		return o, program.Usage("--minutes %g: want more than 0", o.minutes)
	case !(o.checkpointMinutes >= 0):
		return o, program.Usage("--checkpoint_minutes %g: want 0 or more", o.checkpointMinutes)
	case o.steps < 1 || o.epochs < 0 || o.batchSize < 0:
		return o, program.Usage("--steps, --epochs or --batch_size is too small")
	case o.split != "" && o.split != "test" && o.split != "valid":
		return o, program.Usage("--score %s: want test or valid", o.split)
	}
	return o, nil
}

// configuration returns that of the preset, with the changes of flags.
func (o options) configuration() (configuration.Configuration, error) {
	c, err := ultra.Configuration(), error(nil)
	if o.preset != published {
		if c, err = configuration.Preset(o.preset); err != nil {
			return c, program.Usage("--preset: %w", err)
		}
	}
	if o.epochs > 0 {
		c.Epochs = o.epochs
	}
	if o.batchSize > 0 {
		c.BatchSize = o.batchSize
	}
	return c, c.Validate()
}

// graph returns the folder of the graph.
func (o options) graph() string { return filepath.Join(o.workspace, kg.Folder) }

// open opens the device.
func (o options) open() (device.Device, error) {
	if o.device == "interpreter" {
		return interpreter.New(), nil
	}
	choice, err := device.Parse(o.device)
	if err != nil || choice.Mode != device.CUDA || choice.All {
		return nil, program.Usage("--device %s: want cuda or cuda:n", o.device)
	}
	return cuda.Open(choice.Ordinal)
}

func run(ctx context.Context, arguments []string, out io.Writer, now func() time.Time, start time.Time) error {
	o, err := parse(arguments, out)
	if err != nil {
		return err
	}
	if o.join != "" {
		return join(ctx, o, out)
	}
	c, err := o.configuration()
	if err != nil {
		return err
	}
	if (archive{folder: o.out}).exists() && filepath.Clean(o.out) != filepath.Clean(o.resume) {
		return fmt.Errorf("%s has a checkpoint: continue it with --resume %s, or name another --out", o.out, o.out)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(o.out, "log.txt"))
	if err != nil {
		return err
	}
	k := &kit{
		options: o, configuration: c,
		clock: clock{now: now, start: start, limit: time.Duration(o.minutes * float64(time.Minute))},
		print: func(format string, arguments ...any) {
			fmt.Fprintf(io.MultiWriter(out, log), format+"\n", arguments...)
		},
	}
	err = k.run(ctx)
	if err != nil {
		fmt.Fprintf(log, "gpu: %v\n", err)
	}
	return errors.Join(err, log.Close())
}

// join puts the checkpoints of an archive into a workspace.
func join(ctx context.Context, o options, out io.Writer) error {
	folder := checkpoint.FolderOf(o.workspace, checkpoint.DefaultRun)
	if err := (archive{folder: o.join}).unpack(ctx, folder, filepath.Join(o.workspace, checkpoint.RunFolder(checkpoint.DefaultRun), historyFile)); err != nil {
		return err
	}
	records, _, err := folder.Records(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		fmt.Fprintf(out, "%s: %s of epoch %d\n", folder, r.Name(), r.Epoch)
	}
	return nil
}

// writeMeasured replaces measured.json.
func (k *kit) writeMeasured(ctx context.Context) error {
	return storage.WriteJSON(ctx, filepath.Join(k.out, "measured.json"), k.measured)
}
