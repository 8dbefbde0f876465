package configuration

import (
	"math"
	"strings"
	"testing"
)

func TestValidateNamesEveryField(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Layers, c.Delta, c.Message, c.LearningRate = 0, -1, "complex", math.NaN()
	err := c.Validate()
	if err == nil {
		t.Fatal("four invalid fields give no error")
	}
	for _, want := range []string{"layers is 0", "delta is -1", `message is "complex"`, "distmult, transe, rotate", "learning_rate is NaN"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "dropout") {
		t.Errorf("dropout is valid, but is named in:\n%v", err)
	}
}

func TestValidateFieldByField(t *testing.T) {
	t.Parallel()
	if err := Default().Validate(); err != nil {
		t.Fatalf("the default is not valid: %v", err)
	}
	for field, change := range map[string]func(*Configuration){
		"layers":     func(c *Configuration) { c.Layers = MaxLayers + 1 },
		"dim":        func(c *Configuration) { c.Dim = 0 },
		"delta":      func(c *Configuration) { c.Delta = -1 },
		"policy":     func(c *Configuration) { c.Policy = "everything" },
		"delta_mode": func(c *Configuration) { c.DeltaMode = "" },
		"attention":  func(c *Configuration) { c.DeltaMode = DeltaSpecific },
		"temperature": func(c *Configuration) {
			c.DeltaMode, c.Attention, c.AttentionTemperature = DeltaSpecific, AttentionOwn, 0
		},
		"node_ratio":              func(c *Configuration) { c.Policy, c.NodeRatio = PolicyAStar, 0 },
		"degree_ratio":            func(c *Configuration) { c.Policy, c.DegreeRatio = PolicyWindowWithAStar, 0 },
		"reach":                   func(c *Configuration) { c.Policy, c.Reach = PolicyAStar, 100 },
		"degree_messages":         func(c *Configuration) { c.Policy, c.DegreeMessages = PolicyAStar, true },
		"evaluation_node_ratio":   func(c *Configuration) { c.EvaluationNodeRatio = 1.5 },
		"evaluation_degree_ratio": func(c *Configuration) { c.EvaluationDegreeRatio = -1 },
		"aggregate":               func(c *Configuration) { c.Aggregate = "median" },
		"message":                 func(c *Configuration) { c.Message = "" },
		"remove":                  func(c *Configuration) { c.Remove = "all" },
		"dropout":                 func(c *Configuration) { c.Dropout = 1 },
		"negatives":               func(c *Configuration) { c.Negatives = 0 },
		"adversarial_temperature": func(c *Configuration) { c.AdversarialTemperature = -1 },
		"learning_rate":           func(c *Configuration) { c.LearningRate = 0 },
		"learning_rate_decay":     func(c *Configuration) { c.LearningRateDecay = 0 },
		"weight_decay":            func(c *Configuration) { c.WeightDecay = -1 },
		"batch_size":              func(c *Configuration) { c.BatchSize = 0 },
		"epochs":                  func(c *Configuration) { c.Epochs = 0 },
		"answers_per_query":       func(c *Configuration) { c.AnswersPerQuery, c.RemovedShare = MaxAnswers+1, .5 },
		"removed_share":           func(c *Configuration) { c.AnswersPerQuery, c.RemovedShare = 4, 1.5 },
		"batching":                func(c *Configuration) { c.Batching = "sorted" },
		"weight_average":          func(c *Configuration) { c.WeightAverage = 1 },
		"share_states":            func(c *Configuration) { c.ShareStates, c.Dropout = true, .1 },
	} {
		c := Default()
		change(&c)
		err := c.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), field+" is ") {
			t.Errorf("invalid %s: error is %v", field, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("invalid %s: more than one field is named: %v", field, err)
		}
	}
}

func TestOddDimensionWithRotatE(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Message, c.Dim = MessageRotatE, 5
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "dim is 5") {
		t.Errorf("rotate in 5 dimensions: error is %v", err)
	}
}

func TestStringAndParse(t *testing.T) {
	t.Parallel()
	for _, name := range PresetNames() {
		c, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		var parsed Configuration
		if err := parsed.Parse([]byte(c.String())); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if parsed != c {
			t.Errorf("%s: parsed\n%s, want\n%s", name, parsed, c)
		}
	}
}

// TestAnswersPerQuery reads queries of several answers: one answer is the same as none given, and a share that is left
// out a half.
func TestAnswersPerQuery(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]float64{
		`{}`: {0, 0}, `{"answers_per_query": 1, "removed_share": 0.3}`: {0, 0}, `{"answers_per_query": 4}`: {4, .5},
		`{"answers_per_query": 2, "removed_share": 0.3}`: {2, .3}, `{"answers_per_query": -1}`: {-1, 0},
	} {
		c := Default()
		if err := c.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := [2]float64{float64(c.AnswersPerQuery), c.RemovedShare}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if one := c == Default(); one != (want == [2]float64{}) {
			t.Errorf("%s: equal to the default: %v", text, one)
		}
	}
}

func TestParseRefusesUnknownFields(t *testing.T) {
	t.Parallel()
	c := Default()
	if err := c.Parse([]byte(`{"layers": 3, "lairs": 4}`)); err == nil || !strings.Contains(err.Error(), "lairs") {
		t.Errorf("an unknown field: error is %v", err)
	}
	if err := c.Parse([]byte(`{"layers": "three"}`)); err == nil {
		t.Error("a string for a number gives no error")
	}
}

func TestParseKeepsOtherFields(t *testing.T) {
	t.Parallel()
	c := Default()
	if err := c.Parse([]byte(`{"layers": 3}`)); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Layers = 3
	if c != want {
		t.Errorf("parsed\n%s, want\n%s", c, want)
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	c := Default()
	c.NodeRatio, c.DegreeRatio = .25, 2
	if node, degree := c.Ratios(false); node != .25 || degree != 2 {
		t.Errorf("without ratios of its own, evaluation has %g and %g", node, degree)
	}
	c.EvaluationNodeRatio, c.EvaluationDegreeRatio = 1, .5
	if node, degree := c.Ratios(true); node != .25 || degree != 2 {
		t.Errorf("training has %g and %g", node, degree)
	}
	if node, degree := c.Ratios(false); node != 1 || degree != .5 {
		t.Errorf("evaluation has %g and %g", node, degree)
	}
}

// TestNormalized reads the ways to say where relations come from.
func TestNormalized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"dependent": true}`: RelationsLinear, `{"dependent": false}`: RelationsTable, `{"relations": "linear"}`: RelationsLinear,
		`{"relations": "table"}`: RelationsTable, `{"relations": "graph", "relation_layers": 6}`: RelationsGraph,
		`{"relation_layers": 3}`: RelationsLinear, `{"relations": "graph", "layers": 4}`: RelationsGraph,
	} {
		c := Default()
		if err := c.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err != nil || c.Source() != want || strings.Contains(c.String(), "relation") != (want == RelationsGraph) {
			t.Errorf("%s: source %s, want %s; %v\n%s", text, c.Source(), want, err, c)
		}
		if want == RelationsGraph && c.RelationLayers != c.Layers {
			t.Errorf("%s: %d relation layers, want as many as layers, %d", text, c.RelationLayers, c.Layers)
		}
	}
}
