package lists

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/internal/engine"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// Grid is a list of trainings.
type Grid struct {
	Experiments []Experiment `json:"experiments"`
	// Trainings has the trainings of all experiments, in their order.
	Trainings []Training `json:"-"`
}

// Experiment stands for a training of each dataset with each combination of the varied values and each seed. Several
// experiments of a grid may have the same name.
type Experiment struct {
	// Name begins the names of the trainings.
	Name     string    `json:"name"`
	Datasets []Dataset `json:"datasets"`
	// Flags are flags of train and keys of preset files, which change the preset. Vary has some with the values that
	// they take in turn.
	Flags map[string]json.RawMessage   `json:"flags"`
	Vary  map[string][]json.RawMessage `json:"vary"`
	Seeds []int64                      `json:"seeds"`
	// Protocols evaluate each training, as values of score --protocol; the paper's if empty.
	Protocols []string `json:"protocols"`
	// Memory is the MiB of a process; 0 is 1024.
	Memory int `json:"memory"`
}

// Dataset is a dataset with the configuration that suits it.
type Dataset struct {
	// Dataset is a name of the catalog, or a folder or file of facts, and Inference the folder of the inference graph
	// of one that is not in the catalog.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference"`
	// Preset is a preset of train, or a file with one; empty for the default configuration. Flags are
	// further flags of train.
	Preset string                     `json:"preset"`
	Flags  map[string]json.RawMessage `json:"flags"`
}

// text returns the value of a flag as it stands on a command line: in JSON it is a text, a number, or true or false.
func text(value json.RawMessage) string { return strings.Trim(string(value), `"`) }

// Training is a model of a grid with one seed.
type Training struct {
	// Dataset is the name of the dataset's folder, Experiment and Varied name the model among those of the dataset.
	Dataset, Experiment string
	Varied              map[string]string
	Seed                int64

	Configuration configuration.Configuration
	validation    metrics.Validation
	source        Dataset
	flags         []string       // of train, without the seed and the preset
	keys          map[string]any // of a preset file, for what has no flag
	protocols     []string
	memory        int
}

// Cell returns DATASET/MODEL, which trainings with different seeds share: WN18RR_v1/fixed-delta-0.
func (t Training) Cell() string {
	name := t.Experiment
	for _, flag := range slices.Sorted(maps.Keys(t.Varied)) {
		name += "-" + flag + "-" + t.Varied[flag]
	}
	return t.Dataset + "/" + notInNames.ReplaceAllString(name, "")
}

// Name returns the name of the training's result: WN18RR_v1/fixed-delta-0-seed-1.
func (t Training) Name() string { return fmt.Sprintf("%s-seed-%d", t.Cell(), t.Seed) }

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// ReadGrid reads a grid and derives its trainings: those with the first seed of their experiment, then those with the
// second, and so on, so that every model has a number early.
func ReadGrid(ctx context.Context, path string) (Grid, error) {
	g, err := Read[Grid](ctx, path)
	cells := map[string]Training{}
	var rounds [][]Training
	for _, e := range g.Experiments {
		trainings, wrong := e.trainings(ctx)
		for _, t := range trainings {
			if other, found := cells[t.Cell()]; found && other.Configuration != t.Configuration {
				wrong = fmt.Errorf("another experiment has %s with other hyperparameters", t.Cell())
			}
			cells[t.Cell()] = t
			round := slices.Index(e.Seeds, t.Seed)
			for len(rounds) <= round {
				rounds = append(rounds, nil)
			}
			rounds[round] = append(rounds[round], t)
		}
		if wrong != nil {
			return g, fmt.Errorf("%s: experiment %s: %w", path, e.Name, wrong)
		}
	}
	g.Trainings = slices.Concat(rounds...)
	return g, err
}

func (e Experiment) trainings(ctx context.Context) (all []Training, err error) {
	if len(e.Datasets) == 0 || len(e.Seeds) == 0 {
		return nil, errors.New("datasets and seeds are needed")
	}
	for _, d := range e.Datasets {
		for _, varied := range combinations(e.Vary) {
			t, err := e.training(ctx, d, varied)
			for _, t.Seed = range e.Seeds {
				err = cmp.Or(err, checkpoint.CheckRun(filepath.Base(t.Name())))
				all = append(all, t)
			}
			if err != nil {
				return nil, fmt.Errorf("dataset %s: %w", d.Dataset, err)
			}
		}
	}
	return all, nil
}

// combinations returns each combination of the values of all flags. The values of the flag that is last
// by name change first.
func combinations(vary map[string][]json.RawMessage) []map[string]string {
	all := []map[string]string{nil}
	for _, flag := range slices.Sorted(maps.Keys(vary)) {
		var more []map[string]string
		for _, before := range all {
			for _, value := range vary[flag] {
				next := map[string]string{flag: text(value)}
				maps.Copy(next, before)
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// training returns the training of a dataset and varied values, without its seed.
func (e Experiment) training(ctx context.Context, d Dataset, varied map[string]string) (t Training, err error) {
	t = Training{Dataset: notInNames.ReplaceAllString(filepath.Base(filepath.Clean(d.Dataset)), ""), Experiment: e.Name, Varied: varied, source: d,
		protocols: e.Protocols, memory: cmp.Or(e.Memory, 1024)}
	if known, ok := datasets.Named(d.Dataset); ok {
		t.source.Inference = known.Inference
	}
	if len(t.protocols) == 0 {
		t.protocols = []string{string(metrics.Test)}
	}
	flags := map[string]string{}
	for _, given := range []map[string]json.RawMessage{e.Flags, d.Flags} {
		for flag, value := range given {
			flags[flag] = text(value)
		}
	}
	maps.Copy(flags, varied)
	t.keys = map[string]any{}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if field, ok := configuration.FieldNamed(flag); ok && !field.IsFlag() {
			t.keys[flag] = nil
		} else {
			t.flags = append(t.flags, "--"+flag+"="+flags[flag])
		}
	}
	t.Configuration, t.validation, err = configure(ctx, d.Preset, flags)
	for name := range t.keys {
		field, _ := configuration.FieldNamed(name)
		t.keys[name] = field.Of(t.Configuration)
	}
	if len(t.keys) > 0 && configuration.IsPresetFile(d.Preset) {
		err = cmp.Or(err, fmt.Errorf("%s has a preset file of its own: set %s there", d.Preset, strings.Join(slices.Sorted(maps.Keys(t.keys)), ", ")))
	}
	return t, err
}

// train returns the command that trains. What has no flag is in a preset file, which it writes beside the runs.
func (t Training) train(with []string) engine.Command {
	run, preset := filepath.Base(t.Name()), located(t.source.Preset)
	if len(t.keys) > 0 {
		preset = path.Join(t.Dataset, run+".json")
	}
	var flags []string
	if preset != "" {
		flags = []string{"--preset", preset}
	}
	command := train("train", t.Dataset, run, slices.Concat(flags, t.flags, []string{"--seed", fmt.Sprint(t.Seed)}, with)...)
	if len(t.keys) == 0 {
		return command
	}
	content := maps.Clone(t.keys)
	content["preset"] = t.source.Preset
	line := command.Words
	command.Words = func(ctx context.Context, work string) ([]string, error) {
		if err := storage.WriteJSON(ctx, filepath.Join(work, preset), content); err != nil {
			return nil, err
		}
		return line(ctx, work)
	}
	return command
}

// configure returns the configuration and the validation that train derives from a preset and flags.
func configure(ctx context.Context, preset string, flags map[string]string) (c configuration.Configuration, v metrics.Validation, err error) {
	c, v = configuration.Default(), metrics.Validation{Every: 1}
	if preset != "" {
		if c, err = configuration.OpenPreset(ctx, preset); err != nil {
			return c, v, err
		}
	}
	known := []string{"validate_every", "valid_limit"}
	for _, f := range configuration.Fields() {
		known = append(known, f.Name)
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		value, want := flags[flag], "a whole number"
		switch field, ok := configuration.FieldNamed(flag); {
		case ok:
			want, err = field.Wants(), field.Set(&c, value)
		case flag == "validate_every":
			v.Every, err = strconv.Atoi(value)
		case flag == "valid_limit":
			v.Limit, err = strconv.ParseInt(value, 10, 64)
		default:
			return c, v, fmt.Errorf("train has no hyperparameter %s that an experiment can set; the closest are %s", flag,
				strings.Join(names.Closest(flag, known, 3), ", "))
		}
		if err != nil {
			return c, v, fmt.Errorf("--%s %q is not %s", flag, value, want)
		}
	}
	c = c.Normalized()
	return c, v, c.Validate()
}

// inputs are the hyperparameters and the data of a training.
func (t Training) inputs() map[string]string {
	inputs := Hyperparameters(t.Configuration)
	if inputs["loss"] == configuration.LossBinary {
		inputs["loss"] = "" // as results have it that are older than the hyperparameter
	}
	inputs["dataset"], inputs["inference"], inputs["seed"] = t.Dataset, t.source.Inference, fmt.Sprint(t.Seed)
	inputs["validate_every"], inputs["valid_limit"] = fmt.Sprint(t.validation.Every), fmt.Sprint(t.validation.Limit)
	return inputs
}

// Hyperparameters returns the values of a configuration by their names.
func Hyperparameters(c configuration.Configuration) map[string]string {
	values := map[string]string{}
	for _, f := range configuration.Fields() {
		value, _ := json.Marshal(f.Of(c)) // a number, a text or a boolean
		values[f.Name] = text(value)
	}
	return values
}

// Runs returns the runs of the trainings.
func (g Grid) Runs(threads int) (runs []engine.Run) {
	for _, t := range g.Trainings {
		with := resources(threads, t.memory)
		run := filepath.Base(t.Name())
		r := engine.Run{Name: t.Name(), Inputs: t.inputs(), Commands: []engine.Command{
			preprocess(t.Dataset, located(t.source.Dataset), located(t.source.Inference)),
			t.train(with),
		}}
		for _, protocol := range t.protocols {
			r.Commands = append(r.Commands, score(protocol, t.Dataset, run, protocol, with...))
		}
		runs = append(runs, r)
	}
	return runs
}

// located returns a file or a folder so that a command which runs elsewhere finds it, and another name, as of a
// catalog, as it is.
func located(name string) string {
	if _, err := os.Stat(name); err != nil {
		return name
	}
	if absolute, err := filepath.Abs(name); err == nil {
		return absolute
	}
	return name
}
