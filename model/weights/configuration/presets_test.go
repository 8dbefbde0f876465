package configuration

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryPresetIsLegal(t *testing.T) {
	t.Parallel()
	for _, name := range FoundPresetNames() {
		if c, err := Preset(name); err != nil || c.Validate() != nil {
			t.Errorf("preset %q: %v, %v", name, err, c.Validate())
		}
	}
	names := AuthorsPresetNames()
	if want := 21 + 20; len(names) != want {
		t.Errorf("%d presets, want %d", len(names), want)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("preset %q is listed twice", name)
		}
		seen[name] = true
		c, err := Preset(name)
		if err != nil {
			t.Errorf("preset %q is listed but unknown: %v", name, err)
			continue
		}
		if err := c.Validate(); err != nil {
			t.Errorf("preset %q: %v", name, err)
		}
		if c.Layers != 6 || c.Dim != 32 || c.Message != MessageDistMult || !c.StrictNegatives {
			t.Errorf("preset %q: not the paper's 6 layers, 32 dimensions, distmult and strict negatives:\n%s", name, c)
		}
		if c.Specific() != strings.HasSuffix(name, "-specific") {
			t.Errorf("preset %q: delta_mode %s", name, c.DeltaMode)
		}
		if c.Prioritized() != strings.HasSuffix(name, "-astar") ||
			c.Windowed() == (strings.HasSuffix(name, "-astar") && !strings.HasSuffix(name, "-window-astar")) {
			t.Errorf("preset %q: policy %s", name, c.Policy)
		}
	}
}

// TestPresetsOfEveryName spells out the promised names, so that none is lost by a change
// of how they are put together.
func TestPresetsOfEveryName(t *testing.T) {
	t.Parallel()
	want := []string{"fb15k-237", "fb15k-237-wide", "fb15k-237-specific", "wn18rr", "wn18rr-specific",
		"fb15k-237-astar", "fb15k-237-window-astar", "wn18rr-astar", "wn18rr-window-astar"}
	for _, set := range []string{"fb-v1", "fb-v2", "fb-v3", "fb-v4", "wn-v1", "wn-v2", "wn-v3", "wn-v4"} {
		want = append(want, set, set+"-specific", set+"-astar", set+"-window-astar")
	}
	got := AuthorsPresetNames()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("preset names are\n%v, want\n%v", got, want)
	}
}

func TestPresetValues(t *testing.T) {
	t.Parallel()
	wide, _ := Preset("fb15k-237-wide")
	want := Default()
	want.Delta, want.Dropout, want.Negatives, want.Remove, want.Bias = 3, .4, 2048, RemoveOneHop, false
	want.WeightDecay = 1e-7
	if wide != want {
		t.Errorf("fb15k-237-wide is\n%s, want\n%s", wide, want)
	}

	specific, _ := Preset("wn-v4-specific")
	want = Default()
	want.Delta, want.DeltaMode, want.Attention, want.AttentionTemperature = 3, DeltaSpecific, AttentionShared, 5
	want.Dependent, want.Bias, want.Dropout, want.AdversarialTemperature = false, false, .3, 1
	want.LearningRate, want.WeightDecay = 3e-3, 9e-5
	if specific != want {
		t.Errorf("wn-v4-specific is\n%s, want\n%s", specific, want)
	}

	astar, _ := Preset("fb-v3-astar")
	want = Default()
	want.Policy, want.Aggregate, want.NodeRatio, want.EvaluationNodeRatio = PolicyAStar, AggregateSum, .5, 1
	want.Negatives, want.BatchSize, want.LearningRateDecay = 32, 64, 1
	if astar != want {
		t.Errorf("fb-v3-astar is\n%s, want\n%s", astar, want)
	}

	both, _ := Preset("wn18rr-window-astar")
	if both.Delta != 3 || both.Dropout != .3 || both.Policy != PolicyWindowWithAStar || both.Dependent {
		t.Errorf("wn18rr-window-astar is\n%s", both)
	}
}

func TestUnknownPresetNamesTheClosest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"fb15k237": "fb15k-237", "wn_v1": "wn-v1", "wn18r-specific": "wn18rr-specific", "FB-V2": "fb-v2", "": "fb-v1",
	} {
		_, err := Preset(name)
		if err == nil {
			t.Errorf("preset %q is no error", name)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("preset %q: %v; want it to name %s", name, err, want)
		}
	}
}
