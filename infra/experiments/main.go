// Command experiments trains and evaluates the models of a list or a sweep by processes of tagnet, which it builds first, and writes a result
// file for each.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/infra/internal/program"
	"tagnet/model/weights/configuration"
)

func main() {
	os.Exit(program.Run("experiments", "interrupted; finished runs are kept, and the same command resumes the others", run))
}

// paperFile is the file of the paper's experiments, from the top of the repository.
const paperFile = "infra/experiments/paper.json"

// options are the flags.
type options struct {
	file            string
	state, results  string
	only            string
	threads         int
	hours           float64
	device, kernel  string
	tagnet          string
	plan            bool
	collect, verify bool
	force           bool
	arguments       []string

	sweep sweep
}

// sweep are the flags of a sweep without a file.
type sweep struct {
	name, dataset, inference, preset string
	seeds, protocols                 string
	vary                             map[string][]plan.Value
	flags                            map[string]plan.Value
}

const does = `Trains and evaluates the models that a file lists and writes a result file for each: go run ./infra/experiments [FILE] [flags].
Without a file it makes those of ` + paperFile + `, or with --dataset a sweep of its own, which takes the hyperparameters of train as flags, too.`

func (o *options) register(set *flag.FlagSet) {
	set.StringVar(&o.state, "state", "experiments", "`folder` of the workspaces, the logs and the program")
	set.StringVar(&o.results, "results", "", "`folder` of the result files (default: results beside FILE; of a sweep: results in --state)")
	set.StringVar(&o.only, "only", "", "make the runs that a `pattern` matches: DATASET/RUN, or one of the two, with * for any characters; several separated by commas")
	set.IntVar(&o.threads, "threads", runtime.NumCPU(), "threads of each process")
	set.Float64Var(&o.hours, "hours", 0, "interrupt after this time, so that every training has a checkpoint; 0 is no limit")
	set.StringVar(&o.device, "device", "", "`where` to compute, as --device of train")
	set.StringVar(&o.kernel, "kernel", "", "`variant` of the kernels, as --kernel of train")
	set.StringVar(&o.tagnet, "tagnet", "", "built `program` to use instead of building ./pipelines/tagnet; trainings in --state that this command did not make are recorded as its own")
	set.BoolVar(&o.plan, "plan", false, "print the runs and how far they are, and write nothing")
	set.BoolVar(&o.collect, "collect", false, "write the results of trainings and evaluations that are complete in --state, and make no runs")
	set.BoolVar(&o.verify, "verify", false, "train again in a new state and compare every metric with the result")
	set.BoolVar(&o.force, "force", false, "make stale runs again, which were made with another configuration")
	s := &o.sweep
	set.StringVar(&s.dataset, "dataset", "", "sweep: a `name` of the catalog, or a folder with train.txt, valid.txt and test.txt")
	set.StringVar(&s.inference, "inference", "", "sweep: `folder` of the inference graph of a dataset that is not in the catalog")
	set.StringVar(&s.preset, "preset", "", "sweep: `name` of a preset of train, or a file with one")
	set.Func("vary", "sweep: a flag of train and its values, such as `delta=0..5` or dim=16,32; for several flags all combinations", func(text string) error {
		flag, values, err := plan.Vary(text)
		if err == nil && s.vary[flag] != nil {
			err = fmt.Errorf("--vary %s stands twice", flag)
		}
		if err != nil {
			return err
		}
		s.vary[flag] = values
		return nil
	})
	set.StringVar(&s.seeds, "seeds", "1", "sweep: `list` of seeds, such as 1..5")
	set.StringVar(&s.protocols, "protocols", "", "sweep: `list` of protocols of score (default: test)")
	set.StringVar(&s.name, "name", "sweep", "sweep: begins the names of the runs")
}

// register registers the hyperparameters of train.
func (s *sweep) register(set *flag.FlagSet) {
	for _, name := range plan.FlagNames() {
		register, usage := set.Func, ""
		if plan.Boolean(name) {
			register = set.BoolFunc // it may stand without a value
		}
		if f, known := configuration.FieldNamed(name); known {
			usage = f.Usage()
		}
		register(name, usage, func(text string) error {
			if text == "" {
				return errors.New("the value is empty")
			}
			s.flags[name] = plan.Value(text)
			return nil
		})
	}
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	o := options{arguments: arguments, sweep: sweep{vary: map[string][]plan.Value{}, flags: map[string]plan.Value{}}}
	set := flag.NewFlagSet("experiments", flag.ContinueOnError)
	o.register(set)
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		o.file, arguments = arguments[0], arguments[1:]
	}
	if !slices.ContainsFunc(arguments, func(a string) bool { return strings.TrimLeft(a, "-") == "h" || strings.TrimLeft(a, "-") == "help" }) {
		o.sweep.register(set) // train -h explains them
	}
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return o, err
	}
	return o, o.check(set)
}

// sweepFlags returns the given flags that only a sweep has.
func sweepFlags(set *flag.FlagSet) (given []string) {
	of := append([]string{"inference", "preset", "vary", "seeds", "protocols", "name"}, plan.FlagNames()...)
	set.Visit(func(f *flag.Flag) {
		if slices.Contains(of, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	return given
}

func (o *options) check(set *flag.FlagSet) error {
	swept := sweepFlags(set)
	switch {
	case o.file != "" && o.sweep.dataset != "":
		return program.Usage("--dataset makes a sweep without a file: leave it or %s out", o.file)
	case o.sweep.dataset == "" && len(swept) > 0:
		return program.Usage("%s belongs to a sweep: add --dataset, or put it into a file of experiments", swept[0])
	case o.threads < 1 || !(o.hours >= 0):
		return program.Usage("--threads must be 1 or more, and --hours 0 or more")
	case o.plan && o.collect || o.plan && o.verify || o.collect && o.verify:
		return program.Usage("--plan, --collect and --verify exclude each other")
	case o.verify && o.only == "":
		return program.Usage("--verify trains again: say with --only which runs")
	case o.verify && (o.device != "" || o.kernel != ""):
		return program.Usage("--verify computes as the result says: leave --device and --kernel out")
	}
	if o.file == "" && o.sweep.dataset == "" {
		o.file = paperFile
		if _, err := os.Stat(o.file); errors.Is(err, fs.ErrNotExist) {
			return program.Usage("say what to train: a FILE of experiments, or a sweep of --dataset (%s, the default, is in the repository)", o.file)
		}
	}
	if o.results == "" {
		o.results = filepath.Join(o.state, "results")
		if o.file != "" {
			o.results = filepath.Join(filepath.Dir(o.file), "results")
		}
	}
	return nil
}

// runs returns the runs of the file or the sweep that --only selects.
func (o *options) runs(ctx context.Context) ([]plan.Run, error) {
	var all []plan.Run
	var err error
	if o.file != "" {
		all, err = plan.Read(ctx, o.file)
	} else {
		all, err = o.sweep.runs(ctx)
	}
	if err != nil {
		return nil, err
	}
	selected, err := plan.Select(all, o.only)
	if err != nil {
		return nil, program.Usage("--only: %w", err)
	}
	return selected, nil
}

func (s sweep) runs(ctx context.Context) ([]plan.Run, error) {
	seeds, err := plan.Seeds(s.seeds)
	if err != nil {
		return nil, program.Usage("--seeds: %w", err)
	}
	e := plan.Experiment{
		Name: s.name, Seeds: seeds, Vary: s.vary, Flags: s.flags,
		Datasets: []plan.Dataset{{Dataset: s.dataset, Inference: s.inference, Preset: s.preset}},
	}
	if s.protocols != "" {
		e.Protocols = strings.Split(s.protocols, ",")
	}
	all, err := plan.File{Experiments: []plan.Experiment{e}}.Runs(ctx)
	if err != nil {
		return nil, program.Usage("%w", err)
	}
	return all, nil
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	runs, err := o.runs(ctx)
	if err != nil {
		return err
	}
	e := &engine.Engine{
		Folders: engine.Folders{State: o.state, Results: o.results}, Processes: &engine.Processes{},
		Threads: o.threads, Device: o.device, Kernel: o.kernel, Force: o.force,
	}
	s := &session{options: o, engine: e, runs: runs, out: out, diagnostics: diagnostics}
	if o.tagnet != "" {
		if e.Trainer, err = engine.Open(o.tagnet); err != nil {
			return program.Usage("%w", err)
		}
		e.Program = e.Trainer
	}
	if o.verify {
		return s.verify(ctx)
	}
	if err := s.inspect(ctx); err != nil {
		return err
	}
	if o.collect {
		return s.collect(ctx)
	}
	if err := s.checkDatasets(ctx); err != nil {
		return err
	}
	if o.plan {
		return s.printPlan()
	}
	return s.make(ctx)
}

// commandLine returns the command line for the lock of the state.
func (o options) commandLine() string {
	return names.CommandLine(append([]string{"experiments"}, o.arguments...)...)
}
