package configuration

import (
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/names"
)

// Preset returns the configuration that the paper's authors used for a dataset, one of their variants of it, or a
// configuration that this project's own searches found. The authors' implementation also updated inactive entities, so
// a preset of theirs is a starting point for tuning. An unknown name is an error that names the closest ones.
func Preset(name string) (Configuration, error) {
	if c, ok := allFound()[name]; ok {
		return c, nil
	}
	if c, ok := authorsPreset(name); ok {
		return c, nil
	}
	return Configuration{}, unknownPreset(name, PresetNames())
}

func unknownPreset(name string, known []string) error {
	return fmt.Errorf("unknown preset %q: the closest are %s", name, strings.Join(names.Closest(name, known, 3), ", "))
}

// authorsPreset returns the configuration of a preset of AuthorsPresetNames.
func authorsPreset(name string) (c Configuration, ok bool) {
	for _, p := range windowPresets {
		if p.name == name {
			return p.configuration(), true
		}
	}
	for _, p := range prioritizedPresets {
		switch name {
		case p.name + "-astar":
			return p.configuration(PolicyAStar), true
		case p.name + "-window-astar":
			return p.configuration(PolicyWindowWithAStar), true
		}
	}
	return Configuration{}, false
}

// PresetNames returns the names of all presets: the authors', then our own.
func PresetNames() []string { return append(AuthorsPresetNames(), FoundPresetNames()...) }

// PresetsHelp lists the names of all presets for the explanation of a flag, and their authors. Names that have the same
// endings are listed together: "wn-v1, wn-v2 (each also -specific)".
func PresetsHelp() string {
	endings := map[string]string{} // of a name
	var bases, together []string
	for _, name := range AuthorsPresetNames() {
		base := slices.IndexFunc(bases, func(base string) bool { return strings.HasPrefix(name, base+"-") })
		if base < 0 {
			bases = append(bases, name)
		} else {
			endings[bases[base]] += ", -" + strings.TrimPrefix(name, bases[base]+"-")
		}
	}
	also := " (also "
	for i, base := range bases {
		if i+1 < len(bases) && endings[base] == endings[bases[i+1]] {
			together, also = append(together, base), " (each also "
			continue
		}
		together, also = append(together, base+also+strings.TrimPrefix(endings[base], ", ")+")"), " (also "
	}
	text := "of the paper's authors: " + strings.Join(together, ", ")
	if found := FoundPresetNames(); len(found) > 0 {
		text += "; found by our own searches: " + strings.Join(found, ", ")
	}
	return text
}

// AuthorsPresetNames returns the names of the presets of the paper's authors, in the order of the paper's tables.
func AuthorsPresetNames() []string {
	var names []string
	for _, p := range windowPresets {
		names = append(names, p.name)
	}
	for _, p := range prioritizedPresets {
		names = append(names, p.name+"-astar", p.name+"-window-astar")
	}
	return names
}

// windowPreset is a row of the paper's table of hyperparameters. Default has what all rows share: 6
// layers, 32 dimensions, PNA, DistMult, strict negatives.
type windowPreset struct {
	name          string
	delta         int
	dependent     bool
	remove        string
	bias, degree  bool
	dropout       float64
	negatives     int
	adversarial   float64
	learningRate  float64
	weightDecay   float64
	batch, epochs int
	decay         float64
	attention     string  // empty: fixed delta
	temperature   float64 // of the attention
}

const yes, no = true, false

// The transductive rows of specific delta have 20 epochs here as in the table of
// hyperparameters; the paper's text says 25.
var windowPresets = []windowPreset{
	// name, delta, dependent, remove, bias, degree, dropout, negatives, adversarial, learning rate, weight decay,
	// batch, epochs, decay, attention, temperature
	{"fb15k-237", 2, yes, RemoveOneHop, no, no, .2, 512, .5, 5e-3, 1e-7, 16, 20, .9, "", 1},
	{"fb15k-237-wide", 3, yes, RemoveOneHop, no, no, .4, 2048, .5, 5e-3, 1e-7, 16, 20, .9, "", 1},
	{"fb15k-237-specific", 2, yes, RemoveOneHop, no, no, .2, 512, .5, 5e-3, 1e-7, 16, 20, .9, AttentionOwn, 1},
	{"wn18rr", 3, no, RemoveTriple, no, no, 0, 128, .5, 5e-3, 1e-6, 16, 20, .9, "", 1},
	{"wn18rr-specific", 3, no, RemoveTriple, no, no, 0, 128, .5, 5e-3, 1e-6, 16, 20, .9, AttentionShared, 1},

	{"fb-v1", 3, yes, RemoveTriple, yes, yes, .7, 256, 1, 1e-2, 1e-4, 16, 16, .9, "", 1},
	{"fb-v2", 3, yes, RemoveTriple, no, yes, .6, 256, .5, 5e-3, 1e-4, 32, 16, .95, "", 1},
	{"fb-v3", 3, yes, RemoveTriple, no, yes, .7, 256, 1, 5e-3, 1e-4, 64, 16, .95, "", 1},
	{"fb-v4", 3, yes, RemoveTriple, no, yes, .7, 256, 1, 5e-3, 1e-4, 64, 16, .95, "", 1},
	{"fb-v1-specific", 3, yes, RemoveTriple, no, yes, .65, 512, 1, 3.5e-3, 4e-4, 64, 20, .8, AttentionOwn, 1},
	{"fb-v2-specific", 3, yes, RemoveTriple, no, yes, .65, 512, .5, 5e-3, 8e-4, 16, 20, .8, AttentionOwn, 2},
	{"fb-v3-specific", 3, yes, RemoveTriple, no, yes, .6, 128, .5, 5e-3, 2e-4, 64, 20, .9, AttentionOwn, 2},
	{"fb-v4-specific", 3, yes, RemoveTriple, no, yes, .6, 128, .5, 5e-3, 2e-4, 64, 20, .9, AttentionOwn, 2},

	{"wn-v1", 3, no, RemoveTriple, no, yes, .5, 128, 1, 1e-3, 1e-4, 64, 16, .8, "", 1},
	{"wn-v2", 3, no, RemoveTriple, no, no, .25, 1024, .5, 5e-3, 5e-4, 64, 16, 1, "", 1},
	{"wn-v3", 3, no, RemoveTriple, no, no, .2, 1024, .5, 5e-3, 2.5e-4, 64, 16, .8, "", 1},
	{"wn-v4", 3, no, RemoveTriple, yes, no, .45, 1024, .5, 5e-3, 8e-5, 32, 16, .9, "", 1},
	{"wn-v1-specific", 3, no, RemoveTriple, no, yes, .5, 128, 1, 1e-3, 1e-4, 64, 20, .8, AttentionShared, .5},
	{"wn-v2-specific", 3, no, RemoveTriple, yes, no, .25, 128, .5, 1e-3, 5e-4, 64, 20, .9, AttentionShared, 1},
	{"wn-v3-specific", 3, no, RemoveTriple, no, no, .2, 1024, .5, 5e-3, 2.5e-4, 64, 20, .8, AttentionShared, .5},
	{"wn-v4-specific", 3, no, RemoveTriple, no, no, .3, 128, 1, 3e-3, 9e-5, 16, 20, .9, AttentionShared, 5},
}

// configuration returns the defaults with the values of the row.
func (p windowPreset) configuration() Configuration {
	c := Default()
	c.Delta, c.Dependent, c.Remove = p.delta, p.dependent, p.remove
	c.Bias, c.DegreeMessages, c.Dropout = p.bias, p.degree, p.dropout
	c.Negatives, c.AdversarialTemperature = p.negatives, p.adversarial
	c.LearningRate, c.LearningRateDecay, c.WeightDecay = p.learningRate, p.decay, p.weightDecay
	c.BatchSize, c.Epochs = p.batch, p.epochs
	c.AttentionTemperature = p.temperature
	if p.attention != "" {
		c.DeltaMode, c.Attention = DeltaSpecific, p.attention
	}
	return c
}

// prioritizedPreset has the hyperparameters of A*Net's authors, and the delta and dropout that the paper
// adds for a window over A*Net on the transductive datasets. The inductive datasets use the values of the
// dataset they were derived from.
type prioritizedPreset struct {
	name           string
	aggregate      string
	dependent      bool
	remove         string
	nodeRatio      float64
	evaluationNode float64
	negatives      int
	adversarial    float64
	delta          int
	dropout        float64
}

var prioritizedPresets = []prioritizedPreset{
	// name, aggregate, dependent, remove, node ratio, the same at evaluation (0: no other), negatives,
	// adversarial, delta, dropout
	{"fb15k-237", AggregatePNA, yes, RemoveOneHop, .1, 0, 512, .5, 2, .1},
	{"wn18rr", AggregatePNA, no, RemoveTriple, .1, 0, 128, .5, 3, .3},
	{"fb-v1", AggregateSum, yes, RemoveTriple, .5, 1, 32, .5, 2, .1},
	{"fb-v2", AggregateSum, yes, RemoveTriple, .5, 1, 32, .5, 2, .1},
	{"fb-v3", AggregateSum, yes, RemoveTriple, .5, 1, 32, .5, 2, .1},
	{"fb-v4", AggregateSum, yes, RemoveTriple, .5, 1, 32, .5, 2, .1},
	{"wn-v1", AggregatePNA, no, RemoveTriple, .05, 1, 32, 1, 3, .3},
	{"wn-v2", AggregatePNA, no, RemoveTriple, .05, 1, 32, 1, 3, .3},
	{"wn-v3", AggregatePNA, no, RemoveTriple, .05, 1, 32, 1, 3, .3},
	{"wn-v4", AggregatePNA, no, RemoveTriple, .05, 1, 32, 1, 3, .3},
}

// configuration returns the defaults with the values of the row, for a policy with priorities.
func (p prioritizedPreset) configuration(policy string) Configuration {
	c := Default()
	c.Policy, c.Aggregate, c.Dependent, c.Remove = policy, p.aggregate, p.dependent, p.remove
	c.NodeRatio, c.EvaluationNodeRatio, c.DegreeRatio = p.nodeRatio, p.evaluationNode, 1
	c.Negatives, c.AdversarialTemperature = p.negatives, p.adversarial
	c.LearningRate, c.LearningRateDecay, c.BatchSize, c.Epochs = 5e-3, 1, 64, 20
	c.Delta = p.delta
	if policy == PolicyWindowWithAStar {
		c.Dropout = p.dropout
	}
	return c
}
