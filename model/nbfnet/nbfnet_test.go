package nbfnet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/nbfnet"
)

// example is a case of testdata/make.py.
type example struct {
	Message, Aggregate string
	Relations          []string
	Facts              [][3]string
	Queries            []struct {
		Source, Relation string
		Scores           map[string]float64
	}
}

func read(t testing.TB, name string) (*nbfnet.Weights, example) {
	t.Helper()
	var e example
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join("testdata", name+".pth"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := nbfnet.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return w, e
}

func (e example) graph(t testing.TB, more ...kg.Triple) *kg.KG {
	t.Helper()
	facts := slices.Clone(more)
	for _, f := range e.Facts {
		facts = append(facts, kg.Triple{Head: f[0], Relation: f[1], Tail: f[2]})
	}
	g, err := kg.New(facts, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// check compares the scores of the weights over a graph with those of the example.
func (e example) check(t *testing.T, w *nbfnet.Weights, g *kg.KG, listed []string) {
	t.Helper()
	c, err := w.Configuration(configuration.Default(), nbfnet.Options{Message: e.Message, Aggregate: e.Aggregate})
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := w.Parameters(c, listed, g.Relations)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := inference.New(g.Train.Graph, nil, c, set, k)
	if err != nil {
		t.Fatal(err)
	}
	worker := scorer.Worker()
	lookup := kg.NewLookup(g.Train.Entities, g.Relations)
	for _, q := range e.Queries {
		relation, inverse := strings.CutPrefix(q.Relation, "~")
		ids, err := lookup.Query(t.Context(), q.Source, relation, inverse)
		if err != nil {
			t.Fatal(err)
		}
		scores := [][]float32{make([]float32, len(g.Train.Entities))}
		if err := worker.Scores(t.Context(), ids.Source, []int32{ids.Relation}, scores); err != nil {
			t.Fatal(err)
		}
		for entity, name := range g.Train.Entities {
			if got, want := float64(scores[0][entity]), q.Scores[name]; !(math.Abs(got-want) <= 1e-5) {
				t.Errorf("%s %s ? %s: score %g, NBFNet's is %g", q.Source, q.Relation, name, got, want)
			}
		}
	}
}

var cases = []string{"pna_dependent", "pna", "rotate", "sum", "mean", "max"}

// TestScoresAreThoseOfNBFNet compares the scores of checkpoints that PyTorch wrote with those of a model that was
// written down in Python (testdata/make.py).
func TestScoresAreThoseOfNBFNet(t *testing.T) {
	t.Parallel()
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := read(t, name)
			e.check(t, w, e.graph(t), e.Relations)
		})
	}
}

// TestListedOrderDecides: with the names in another order the scores are others.
func TestListedOrderDecides(t *testing.T) {
	t.Parallel()
	w, e := read(t, "pna")
	c, err := w.Configuration(configuration.Default(), nbfnet.Options{Message: e.Message})
	if err != nil {
		t.Fatal(err)
	}
	right, _, err := w.Parameters(c, e.Relations, slices.Sorted(slices.Values(e.Relations)))
	if err != nil {
		t.Fatal(err)
	}
	wrong, _, err := w.Parameters(c, slices.Sorted(slices.Values(e.Relations)), slices.Sorted(slices.Values(e.Relations)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"query.weight", "layers.0.relation.weight"} {
		if slices.Equal(right.Data(name), wrong.Data(name)) {
			t.Errorf("%s does not depend on the order of the names", name)
		}
	}
}

// TestUnusedRelations leaves out the rows of a relation that the graph lacks: a graph of the other relations
// gets the scores that it gets with all rows.
func TestUnusedRelations(t *testing.T) {
	t.Parallel()
	w, e := read(t, "pna_dependent")
	c, err := w.Configuration(configuration.Default(), nbfnet.Options{Message: e.Message})
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := w.Parameters(c, e.Relations, e.Relations)
	if err != nil {
		t.Fatal(err)
	}
	some, unused, err := w.Parameters(c, e.Relations, []string{e.Relations[2], e.Relations[0]})
	if err != nil || !slices.Equal(unused, e.Relations[1:2]) {
		t.Fatalf("unused are %q: %v", unused, err)
	}
	for name, block := range map[string]int{"query.weight": 4, "layers.1.relation_linear.weight": 16, "layers.1.relation_linear.bias": 4} {
		a, s := all.Data(name), some.Data(name)
		for i, row := range []int{2, 0, 5, 3} {
			if !slices.Equal(s[i*block:(i+1)*block], a[row*block:(row+1)*block]) {
				t.Errorf("%s: block %d is not that of row %d", name, i, row)
			}
		}
	}
}

func TestRefusesRelations(t *testing.T) {
	t.Parallel()
	w, e := read(t, "pna")
	c, err := w.Configuration(configuration.Default(), nbfnet.Options{Message: e.Message})
	if err != nil {
		t.Fatal(err)
	}
	for want, lists := range map[string][2][]string{
		"2 relations are listed, the weights have 3":                  {e.Relations[:2], e.Relations},
		"2 different relations are listed":                            {{"a", "b", "a"}, {"a"}},
		`the graph's relation "owned 3" is not listed; closest: "own`: {e.Relations, {"owned 3"}},
	} {
		if _, _, err := w.Parameters(c, lists[0], lists[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   string
		given  nbfnet.Options
		option string
		want   string
	}{
		"no message":        {"pna", nbfnet.Options{}, "message", "give distmult, transe or rotate"},
		"no aggregate":      {"sum", nbfnet.Options{Message: "transe"}, "aggregate", "give sum, mean or max"},
		"pna for sum":       {"sum", nbfnet.Options{Message: "transe", Aggregate: "pna"}, "aggregate", "pna does not fit the shapes of the weights, want sum, mean or max"},
		"max for pna":       {"pna", nbfnet.Options{Message: "distmult", Aggregate: "max"}, "aggregate", "max does not fit the shapes of the weights, want pna"},
		"transe with pna":   {"pna", nbfnet.Options{Message: "transe"}, "message", "cannot be used"},
		"rotate in dim 3":   {"pna", nbfnet.Options{Message: "rotate"}, "message", "rotate wants an even dim"},
		"right for the sum": {"sum", nbfnet.Options{Message: "transe", Aggregate: "sum"}, "", ""},
	} {
		w, _ := read(t, c.file)
		_, err := w.Configuration(configuration.Default(), c.given)
		var option *nbfnet.OptionError
		if c.option == "" && err != nil || c.option != "" && (!errors.As(err, &option) || option.Option != c.option || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s: %s", name, err, c.option, c.want)
		}
	}
}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	w, e := read(t, "pna_dependent")
	base := configuration.Default()
	base.Policy, base.Delta, base.DeltaMode, base.Attention, base.Bias, base.DegreeMessages, base.Dependent, base.Epochs = "window", 3, "specific", "own", false, true, false, 7
	c, err := w.Configuration(base, nbfnet.Options{Message: e.Message})
	if err != nil || c.Policy != "full" || c.DeltaMode != "fixed" || c.Layers != 3 || c.Dim != 4 || !c.Dependent || !c.Bias || c.DegreeMessages || c.Epochs != 7 || c.Aggregate != "pna" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestReadsNoOtherModel reads checkpoints of ULTRA, where they are.
func TestReadsNoOtherModel(t *testing.T) {
	t.Parallel()
	data := os.Getenv("TAGNET_DATA")
	if data == "" {
		data = "../../../shared/data"
	}
	file, err := os.Open(filepath.Join(data, "ultra", "ultra_3g.pth"))
	if err != nil {
		t.Skipf("no checkpoint of ULTRA: %v", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = nbfnet.Read(file, info.Size())
	if err == nil || !strings.Contains(err.Error(), `it is no NBFNet of NBFNet-PyG: it has no tensor query.weight of shape [relations and inverses, dim] (it has "entity_model.`) {
		t.Error(err)
	}
	if _, err := nbfnet.Read(bytes.NewReader([]byte("no zip")), 6); err == nil || !strings.Contains(err.Error(), "torch.save") {
		t.Error(err)
	}
}
