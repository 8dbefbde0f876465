package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/weights/configuration"
)

const example = `{
  "experiments": [
    {
      "name": "fixed",
      "datasets": [
        {"dataset": "WN18RR_v1", "preset": "wn-v1"},
        {"dataset": "data/My graph", "inference": "data/mine-ind", "flags": {"bias": false}}
      ],
      "flags": {"epochs": 2, "policy": "window"},
      "vary": {"delta": [0, 1], "dim": [16]},
      "seeds": [1, 7],
      "protocols": ["test", "valid-and-test"],
      "memory": 2048
    },
    {"name": "fixed", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}], "seeds": [1]}
  ]
}
`

func TestParse(t *testing.T) {
	t.Parallel()
	runs, err := parse(t.Context(), "f.json", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID()
	}
	want := []string{
		"WN18RR_v1/fixed-delta-0-dim-16-seed-1", "WN18RR_v1/fixed-delta-1-dim-16-seed-1",
		"Mygraph/fixed-delta-0-dim-16-seed-1", "Mygraph/fixed-delta-1-dim-16-seed-1",
		"WN18RR_v1/fixed-seed-1",
		"WN18RR_v1/fixed-delta-0-dim-16-seed-7", "WN18RR_v1/fixed-delta-1-dim-16-seed-7",
		"Mygraph/fixed-delta-0-dim-16-seed-7", "Mygraph/fixed-delta-1-dim-16-seed-7",
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Error(diff)
	}
	r := runs[3]
	if r.Source != "data/My graph" || r.Inference != "data/mine-ind" || r.Memory != 2048 || r.Cell() != "Mygraph/fixed-delta-1-dim-16" {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{"--bias=false", "--delta=1", "--dim=16", "--epochs=2", "--policy=window"}, r.Flags); diff != "" {
		t.Error(diff)
	}
	c := configuration.Default()
	c.Bias, c.Delta, c.Dim, c.Epochs = false, 1, 16, 2
	if diff := cmp.Diff(c, r.Configuration); diff != "" {
		t.Error(diff)
	}
	preset, err := configuration.Preset("wn-v1")
	if err != nil {
		t.Fatal(err)
	}
	plain := runs[4]
	if diff := cmp.Diff(preset, plain.Configuration); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(plain.Flags, []string{"--preset", "wn-v1"}) || !slices.Equal(plain.Protocols, []string{"test"}) || plain.Memory != DefaultMemory || plain.Validation.Every != 1 || plain.Inference != "WN18RR_v1_ind" {
		t.Errorf("%+v", plain)
	}
}

func TestParseNamesTheMistake(t *testing.T) {
	t.Parallel()
	const last = `{"name": "fixed", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}], "seeds": [1]}`
	for _, c := range []struct{ old, new, want string }{
		{`"vary"`, `"very"`, `f.json:10:7: unknown key "very"; the closest are vary, `},
		{`[1, 7]`, `[1, 1]`, `f.json:3:5: the run WN18RR_v1/fixed-delta-0-dim-16-seed-1 stands in the file twice`},
		{`"preset": "wn-v1"`, `"preset": "wn-v9"`, `f.json:6:9: fixed on WN18RR_v1: unknown preset "wn-v9"`},
		{`"bias": false`, `"bias": "no"`, `f.json:7:9: fixed on data/My graph: --bias "no" is not true or false`},
		{`"bias": false`, `"bias": null`, `f.json:7:86: experiments.datasets.flags.bias: null instead of a text`},
		{`"bias": false`, `"epochs": 3`, `f.json:7:78: --epochs is a flag of the whole experiment, too`},
		{`"epochs": 2`, `"epochs": 2.5`, `f.json:6:9: fixed on WN18RR_v1: --epochs "2.5" is not a whole number`},
		{`"epochs": 2`, `"epochs": 0`, `f.json:6:9: fixed on WN18RR_v1: --epochs is 0: want 1 or more`},
		{`"epochs": 2`, `"epoch": 2`, `f.json:6:9: fixed on WN18RR_v1: train has no flag --epoch that an experiment can set; the closest are epochs, `},
		{`"epochs": 2`, `"seed": 2`, `f.json:6:9: fixed on WN18RR_v1: seeds are no hyperparameter: write --seeds 1..3`},
		{`"epochs": 2`, `"valid_limit": -2`, `f.json:6:9: fixed on WN18RR_v1: --validate_every is 1 and --valid_limit -2`},
		{`"delta": [0, 1]`, `"delta": []`, `f.json:10:7: --delta has no values`},
		{`"delta": [0, 1]`, `"epochs": [0, 1]`, `f.json:6:9: fixed on WN18RR_v1: --epochs is both varied and fixed`},
		{`"dataset": "WN18RR_v1",`, `"dataset": "WN18RR_v1", "inference": "x",`, `f.json:6:9: fixed on WN18RR_v1: the catalog has the inference graph of WN18RR_v1`},
		{`"data/My graph"`, `"/"`, `f.json:7:9: fixed on /: the dataset "/" has no name`},
		{`"fixed"`, `"Fixed/x"`, `f.json:4:7: the name "Fixed/x"`},
		{`"fixed"`, `"` + strings.Repeat("long", 32) + `"`, `f.json:4:7: the run "longlong`},
		{`[1, 7]`, `[]`, `f.json:11:7: experiment fixed has no seeds`},
		{`"epochs": 2`, `"validate_every": 0`, `f.json:6:9: fixed on WN18RR_v1: --validate_every is 0 and --valid_limit 0`},
		{`"valid-and-test"`, `"valid"`, `f.json:6:9: fixed on WN18RR_v1: unknown protocol "valid": want one of test, valid-and-test, grail`},
		{`"valid-and-test"`, `"test"`, `f.json:6:9: fixed on WN18RR_v1: the protocol test stands twice`},
		{`"inference": "data/mine-ind", `, ``, `f.json:7:9: fixed on data/My graph: the protocol valid-and-test is about an inference graph, which data/My graph`},
		{`2048`, `-1`, `f.json:13:7: memory is -1: want MiB`},
		{last, `{"name": "other", "datasets": [{"dataset": "mygraph"}], "seeds": [1]}`, `f.json:15:5: the datasets data/My graph with data/mine-ind and mygraph have the same folder mygraph: rename`},
		{last, `{"name": "fixed-delta-0", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}], "vary": {"dim": [16]}, "seeds": [2]}`,
			`f.json:15:5: WN18RR_v1/fixed-delta-0-dim-16-seed-1 and WN18RR_v1/fixed-delta-0-dim-16-seed-2 differ not only in their seeds`},
		{last, last + `, {"name": "fixed", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}], "flags": {"delta": 5}, "seeds": [2]}`,
			`f.json:15:97: WN18RR_v1/fixed-seed-1 and WN18RR_v1/fixed-seed-2 differ not only in their seeds`},
	} {
		text := strings.Replace(example, c.old, c.new, 1)
		if text == example {
			t.Fatalf("%s does not occur in the example", c.old)
		}
		if _, err := parse(t.Context(), "f.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.new, err, c.want)
		}
	}
	if _, err := parse(t.Context(), "f.json", []byte(`{"experiments": []}`)); err == nil || err.Error() != "f.json:1:2: there are no experiments" {
		t.Errorf("no experiments: error %v", err)
	}
}

// TestPaper checks the file of the paper's experiments: what is in the tables, and that a specific delta with degree messages stands beside one
// without.
func TestPaper(t *testing.T) {
	t.Parallel()
	runs, err := Read(t.Context(), "../../paper.json")
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]Run{}
	for _, r := range runs {
		byID[r.ID()] = r
	}
	for _, dataset := range []string{"WN18RR_v1", "WN18RR_v2", "WN18RR_v3", "WN18RR_v4", "fb237_v1", "fb237_v2", "fb237_v3", "fb237_v4"} {
		for _, seed := range []string{"1", "2", "3"} {
			specific, ablation := byID[dataset+"/specific-seed-"+seed], byID[dataset+"/specific-degree-seed-"+seed]
			if byID[dataset+"/fixed-seed-"+seed].Configuration.DeltaMode != configuration.DeltaFixed || !specific.Configuration.Specific() {
				t.Errorf("%s lacks fixed or specific delta", dataset)
			}
			want := specific.Configuration
			want.DegreeMessages = !want.DegreeMessages
			if diff := cmp.Diff(want, ablation.Configuration); diff != "" {
				t.Errorf("%s: the ablation of degree messages: %s", dataset, diff)
			}
		}
	}
	for _, dataset := range []string{"WN18RR_v1", "WN18RR_v2", "fb237_v1", "fb237_v2"} {
		for name, policy := range map[string]string{"full": configuration.PolicyFull, "astar": configuration.PolicyAStar, "window-astar": configuration.PolicyWindowWithAStar} {
			if got := byID[dataset+"/"+name+"-seed-1"].Configuration.Policy; got != policy {
				t.Errorf("%s/%s has policy %q", dataset, name, got)
			}
		}
	}
	for _, delta := range []string{"0", "1", "2", "4", "5"} {
		if _, ok := byID["fb237_v1/fixed-delta-"+delta+"-seed-3"]; !ok {
			t.Errorf("fb237_v1 lacks delta %s", delta)
		}
	}
	if c := byID["FB15k-237/fixed-seed-0"].Configuration; c.Epochs != 20 || c.Delta != 2 {
		t.Errorf("FB15k-237 has %d epochs, delta %d", c.Epochs, c.Delta)
	}
}

func TestTooManyCombinations(t *testing.T) {
	t.Parallel()
	many := "[" + strings.Repeat("1,", 100) + "1]"
	text := strings.Replace(example, `"delta": [0, 1], "dim": [16]`, `"delta": `+many+`, "dim": `+many, 1)
	if _, err := parse(t.Context(), "f.json", []byte(text)); err == nil || err.Error() != "f.json:10:7: there are more than 10000 combinations" {
		t.Errorf("error %v", err)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0..5": "0 1 2 3 4 5", "16,32": "16 32", "1..2,7": "1 2 7", "5e-3": "5e-3", "-1..0": "-1 0",
		"": "error", "1,,2": "error", "5..0": "error", "a..b": "error", "0..1000": "error", "0...5": "error",
	} {
		values, err := Values(text)
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = string(v)
		}
		got := strings.Join(words, " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", text, got, err, want)
		}
	}
	if flag, values, err := Vary("delta=0..1"); flag != "delta" || len(values) != 2 || err != nil {
		t.Errorf("delta=0..1: %s %v %v", flag, values, err)
	}
	if _, _, err := Vary("delta"); err == nil {
		t.Error("delta without values: no error")
	}
	if _, err := Seeds("1,x"); err == nil {
		t.Error("seeds 1,x: no error")
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	runs, err := parse(t.Context(), "f.json", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	for patterns, want := range map[string]int{
		"": 9, "WN18RR_v1/fixed-seed-1": 1, "WN18RR_v1": 5, "*seed-7": 4, "*/fixed-delta-0*": 4, "My*,WN18RR_v1/fixed-seed-1": 5, ",": 9,
		"nothing": -1, "WN18RR_v1,nothing": -1, "[": -1,
	} {
		selected, err := Select(runs, patterns)
		got := len(selected)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d runs (%v), want %d", patterns, got, err, want)
		}
	}
}

// FuzzParse checks that no text makes the parser panic, that errors name the file, and that names of runs are unique.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add(`{"experiments": [{"name": "a", "datasets": [{"dataset": "b"}], "seeds": [1], "vary": {"policy": ["full", "window+astar"]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "preset") {
			return // may name a file
		}
		runs, err := parse(t.Context(), "f.json", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json:") {
				t.Fatalf("error %v", err)
			}
			return
		}
		names := map[string]bool{}
		for _, r := range runs {
			if names[r.ID()] || r.Configuration.Validate() != nil || r.Dataset == "" {
				t.Fatalf("%+v", r)
			}
			names[r.ID()] = true
		}
	})
}

// TestConfigureRelations checks that two flags that mean one model give one configuration, and that the number of layers between
// relations does not depend on the order of flags.
func TestConfigureRelations(t *testing.T) {
	table, _, err := configure(t.Context(), "", map[string]string{"relations": "table"})
	if err != nil {
		t.Fatal(err)
	}
	independent, _, err := configure(t.Context(), "", map[string]string{"dependent": "false"})
	if err != nil || table != independent {
		t.Errorf("--relations table is\n%s, --dependent=false\n%s, %v", table, independent, err)
	}
	graph, _, err := configure(t.Context(), "", map[string]string{"relation_layers": "3", "relations": "graph"})
	if err != nil || graph.Source() != "graph" || graph.RelationLayers != 3 {
		t.Errorf("%s, %v", graph, err)
	}
}
