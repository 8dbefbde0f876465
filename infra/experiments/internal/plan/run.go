package plan

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// DefaultMemory is the MiB of a training if its experiment sets none, as the default of train.
const DefaultMemory = 1024

// Run is one training and its evaluations.
type Run struct {
	// Dataset is the name of the dataset's folder in the state and among the results.
	Dataset string
	// Source and Inference are the arguments of preprocess.
	Source, Inference string
	// Experiment, Varied and Seed name the run among those of the dataset.
	Experiment string
	Varied     map[string]string
	Seed       int64
	// Flags are the flags of train that decide the result, without the seed: "--preset", "wn-v1", "--delta", "0".
	Flags []string
	// Configuration and Validation are derived from the flags.
	Configuration configuration.Configuration
	Validation    metrics.Validation
	// Protocols evaluate the training.
	Protocols []string
	// Memory is the MiB of each process.
	Memory int
}

// Name returns the name of the training in the workspace of its dataset.
func (r Run) Name() string { return results.RunName(r.Experiment, r.Varied, r.Seed) }

// ID returns DATASET/NAME, which names the run among all.
func (r Run) ID() string { return r.Dataset + "/" + r.Name() }

// Cell returns the name of the run without its seed, which runs with different seeds share.
func (r Run) Cell() string {
	return r.Dataset + "/" + strings.TrimSuffix(r.Name(), fmt.Sprintf("-seed-%d", r.Seed))
}

// Runs returns the runs of a file: those with the first seed of their experiment, then those with the second, and so on, so that every
// cell has a number early. Within each they are in the order of the experiments, their datasets and the varied values. It returns an
// error if two clash.
func (f File) Runs(ctx context.Context) ([]Run, error) {
	var rounds [][]Run // by the position of the seed in its experiment
	names := newNames()
	for i, e := range f.Experiments {
		at := []string{"experiments", strconv.Itoa(i)}
		runs, err := e.runs(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if err := names.add(r); err != nil {
				return nil, wrong(at, "%w", err)
			}
			round := slices.Index(e.Seeds, r.Seed)
			for len(rounds) <= round {
				rounds = append(rounds, nil)
			}
			rounds[round] = append(rounds[round], r)
		}
	}
	if len(rounds) == 0 {
		return nil, wrong([]string{"experiments"}, "there are no experiments")
	}
	return slices.Concat(rounds...), nil
}

var experimentName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func (e Experiment) runs(ctx context.Context, at []string) ([]Run, error) {
	within := func(path ...string) []string { return append(slices.Clone(at), path...) }
	switch {
	case !experimentName.MatchString(e.Name):
		return nil, wrong(within("name"), "the name %q: want lower-case letters, digits and hyphens", e.Name)
	case len(e.Datasets) == 0:
		return nil, wrong(within("datasets"), "experiment %s has no datasets", e.Name)
	case len(e.Seeds) == 0:
		return nil, wrong(within("seeds"), "experiment %s has no seeds", e.Name)
	case e.Memory < 0:
		return nil, wrong(within("memory"), "memory is %d: want MiB", e.Memory)
	}
	var all []Run
	for i, d := range e.Datasets {
		for flag := range d.Flags {
			if _, twice := e.Flags[flag]; twice {
				return nil, wrong(within("datasets", strconv.Itoa(i), "flags", flag), "--%s is a flag of the whole experiment, too", flag)
			}
		}
		varied, err := combinations(e.Vary)
		if err != nil {
			return nil, wrong(within("vary"), "%w", err)
		}
		for _, values := range varied {
			one, err := e.run(ctx, d, values)
			if err != nil {
				return nil, wrong(within("datasets", strconv.Itoa(i)), "%s on %s: %w", e.Name, d.Dataset, err)
			}
			for _, seed := range e.Seeds {
				one.Seed = seed
				if err := checkpoint.CheckRun(one.Name()); err != nil {
					return nil, wrong(within("name"), "%w", err)
				}
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// run returns the run of a dataset and varied values, without its seed.
func (e Experiment) run(ctx context.Context, d Dataset, varied map[string]string) (Run, error) {
	r := Run{
		Dataset: Folder(d.Dataset), Source: d.Dataset, Inference: d.Inference, Experiment: e.Name, Varied: varied,
		Protocols: e.Protocols, Memory: e.Memory,
	}
	if len(r.Protocols) == 0 {
		r.Protocols = []string{results.TestProtocol}
	}
	if r.Memory == 0 {
		r.Memory = DefaultMemory
	}
	if r.Dataset == "" {
		return r, fmt.Errorf("the dataset %q has no name", d.Dataset)
	}
	if known, _ := datasets.Named(d.Dataset); known.Inference != "" {
		if d.Inference != "" {
			return r, fmt.Errorf("the catalog has the inference graph of %s: leave inference out", d.Dataset)
		}
		r.Inference = known.Inference
	}
	if err := r.checkProtocols(); err != nil {
		return r, err
	}
	flags := map[string]string{}
	for _, given := range []map[string]Value{e.Flags, d.Flags} {
		for flag, value := range given {
			flags[flag] = string(value)
		}
	}
	for flag, value := range varied {
		if _, twice := flags[flag]; twice {
			return r, fmt.Errorf("--%s is both varied and fixed", flag)
		}
		flags[flag] = value
	}
	if d.Preset != "" {
		r.Flags = []string{"--preset", d.Preset}
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		r.Flags = append(r.Flags, "--"+flag+"="+flags[flag])
	}
	var err error
	r.Configuration, r.Validation, err = configure(ctx, d.Preset, flags)
	return r, err
}

// checkProtocols returns an error for a protocol that score would refuse when the training has been made.
func (r Run) checkProtocols() error {
	for i, p := range r.Protocols {
		switch {
		case !slices.Contains(metrics.Protocols, p):
			return fmt.Errorf("unknown protocol %q: want one of %s", p, strings.Join(metrics.Protocols, ", "))
		case slices.Contains(r.Protocols[:i], p):
			return fmt.Errorf("the protocol %s stands twice", p)
		case p == string(metrics.ValidAndTest) && r.Inference == "":
			return fmt.Errorf("the protocol %s is about an inference graph, which %s does not have", p, r.Source)
		}
	}
	return nil
}

var notInFolders = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// Folder returns the name of a dataset's folder: the name in the catalog as it was written, or else the name of its folder or file.
func Folder(dataset string) string {
	name := filepath.Base(filepath.Clean(dataset))
	return strings.TrimLeft(notInFolders.ReplaceAllString(name, ""), ".-_")
}

// MostCombinations is the most combinations of values that an experiment may have.
const MostCombinations = 10000

// combinations returns each combination of the values of all flags. The values of the flag that is last by name change first.
func combinations(vary map[string][]Value) ([]map[string]string, error) {
	all := []map[string]string{nil}
	for _, flag := range slices.Sorted(maps.Keys(vary)) {
		values := vary[flag]
		if len(values) == 0 {
			return nil, fmt.Errorf("--%s has no values", flag)
		}
		if len(all)*len(values) > MostCombinations {
			return nil, fmt.Errorf("there are more than %d combinations", MostCombinations)
		}
		var more []map[string]string
		for _, before := range all {
			for _, value := range values {
				next := map[string]string{flag: string(value)}
				maps.Copy(next, before)
				more = append(more, next)
			}
		}
		all = more
	}
	return all, nil
}
