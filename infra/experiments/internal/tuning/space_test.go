package tuning

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tagnet/model/configuration"
)

func raw(list ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, text := range list {
		all = append(all, json.RawMessage(text))
	}
	return all
}

func TestDraw(t *testing.T) {
	t.Parallel()
	s := example()
	s.Candidates = 400
	list := s.Draw(configuration.Default())
	base := configuration.Default()
	base.Epochs = 9
	if len(list) != 400 || list[0].Configuration != base {
		t.Errorf("%d candidates, the first is %s", len(list), list[0].Configuration)
	}
	layers, sums, low := map[int]int{}, 0, 0
	for i, c := range list[1:] {
		v := c.Configuration
		layers[v.Layers]++
		if v.Aggregate == "sum" {
			sums++
		}
		if v.LearningRate < math.Sqrt(1e-4*1e-1) {
			low++
		}
		if c.Number != i+1 || v.Epochs != 9 || v.LearningRate < 1e-4 || v.LearningRate > 1e-1 || v.Dropout < 0 || v.Dropout > .5 || v.Validate() != nil {
			t.Errorf("candidate %d is %s", c.Number, v)
		}
		if text := Value(v, "learning_rate"); len(strings.TrimLeft(strings.NewReplacer(".", "", "e-05", "").Replace(text), "0")) > 3 {
			t.Errorf("candidate %d has the learning rate %s, with more than three digits", c.Number, text)
		}
	}
	if len(layers) != 4 || layers[3] < 60 || layers[6] < 60 || sums < 160 || sums > 240 || low < 160 || low > 240 {
		t.Errorf("layers %v, %d times sum, %d learning rates in the lower half of the decades", layers, sums, low)
	}

	other := example()
	other.Candidates, other.Seed = 400, 8
	more := example()
	more.Space["delta"] = Range{Integers: []int{0, 3}}
	for i, c := range more.Draw(configuration.Default())[1:] {
		v, w := c.Configuration, list[i+1].Configuration
		w.Delta = v.Delta
		if v != w {
			t.Errorf("candidate %d differs by more than delta if that is searched, too", c.Number)
		}
	}
	if other.Draw(configuration.Default())[1].Configuration == list[1].Configuration {
		t.Error("two seeds have the same candidates")
	}
}

// TestDrawOfASmallSpace draws from fewer configurations than candidates, of which some are not valid.
func TestDrawOfASmallSpace(t *testing.T) {
	t.Parallel()
	s := Search{
		Space:      Space{"layers": {Integers: []int{5, 6}}, "policy": {Choices: raw(`"window"`, `"astar"`)}, "degree_messages": {Choices: raw("true", "false")}},
		Candidates: 7, Rungs: []int{1}, KeepOneIn: 2,
	}
	seen := map[configuration.Configuration]bool{}
	for _, c := range s.Draw(configuration.Default()) {
		if seen[c.Configuration] || c.Configuration.Validate() != nil {
			t.Errorf("candidate %d is not valid, or was there before: %s", c.Number, c.Configuration)
		}
		seen[c.Configuration] = true
	}
	if len(seen) != 6 { // astar has no degree messages
		t.Errorf("%d candidates, want 6", len(seen))
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     func(*Search)
		path, want string
	}{
		"none":            {func(*Search) {}, "", ""},
		"empty":           {func(s *Search) { s.Space = nil }, "space", "space is empty"},
		"unknown":         {func(s *Search) { s.Space["lairs"] = Range{Integers: []int{1, 2}} }, "space lairs", `unknown hyperparameter "lairs"; the closest are layers`},
		"epochs":          {func(s *Search) { s.Space["epochs"] = Range{Integers: []int{1, 2}} }, "space epochs", "the last rung decides"},
		"nothing":         {func(s *Search) { s.Space["delta"] = Range{} }, "space delta", "delta: want one of log_uniform"},
		"two":             {func(s *Search) { s.Space["delta"] = Range{Integers: []int{1, 2}, Choices: raw("1")} }, "space delta", "want one of"},
		"uniform layers":  {func(s *Search) { s.Space["layers"] = Range{Uniform: []float64{1, 2}} }, "space layers", "layers: it is a whole number: want integers or choices"},
		"integer rate":    {func(s *Search) { s.Space["dropout"] = Range{Integers: []int{0, 1}} }, "space dropout", "dropout: it is a number: want uniform"},
		"uniform bool":    {func(s *Search) { s.Space["bias"] = Range{Uniform: []float64{0, 1}} }, "space bias", "bias: it is no number, and has choices"},
		"one bound":       {func(s *Search) { s.Space["delta"] = Range{Integers: []int{1}} }, "space delta", "the least and the greatest"},
		"reversed":        {func(s *Search) { s.Space["dropout"] = Range{Uniform: []float64{.5, .1}} }, "space dropout", "the smaller one first"},
		"log of 0":        {func(s *Search) { s.Space["weight_decay"] = Range{LogUniform: []float64{0, .1}} }, "space weight_decay", "above 0"},
		"out of range":    {func(s *Search) { s.Space["dropout"] = Range{Uniform: []float64{.5, 1}} }, "space dropout", "dropout is 1: want 0 or more, less than 1"},
		"layers":          {func(s *Search) { s.Space["layers"] = Range{Integers: []int{6, 20}} }, "space layers", "layers is 20: want 1 to 14"},
		"a choice":        {func(s *Search) { s.Space["policy"] = Range{Choices: raw(`"window"`, "3")} }, "space policy", "policy cannot be 3"},
		"unknown choice":  {func(s *Search) { s.Space["policy"] = Range{Choices: raw(`"windows"`)} }, "space policy", `policy is "windows": want one of window`},
		"candidates":      {func(s *Search) { s.Candidates = 1 }, "candidates", "candidates is 1"},
		"no rungs":        {func(s *Search) { s.Rungs = nil }, "rungs", "rungs is empty"},
		"rungs":           {func(s *Search) { s.Rungs = []int{3, 3} }, "rungs 1", "rungs has 3: want epochs from 1, each more"},
		"no epochs":       {func(s *Search) { s.Rungs = []int{0} }, "rungs 0", "rungs has 0"},
		"keep":            {func(s *Search) { s.KeepOneIn = 1 }, "keep_one_in", "keep_one_in is 1"},
		"hours":           {func(s *Search) { s.Hours = -1 }, "training_hours", "training_hours is -1"},
		"rotate odd dims": {func(s *Search) { s.Space["message"] = Range{Choices: raw(`"rotate"`)} }, "", ""},
	} {
		s := example()
		c.change(&s)
		path, err := s.Check()
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if err == nil || strings.Join(path, " ") != c.path || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v at %q, want %q at %q", name, err, path, c.want, c.path)
		}
	}
}
