package golden

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

func TestGoldenCasesCanBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range Cases(t) {
		if len(c.Queries) == 0 || c.Parameters == nil {
			t.Errorf("%s: no queries or parameters", c.Name)
		}
		rounded := c.Parameters32()
		if err := CompareSets(rounded, c.Parameters, 1e-7); err != nil {
			t.Errorf("%s: parameters in float32: %v", c.Name, err)
		}
	}
}

func TestConfigurationIsReadStrictly(t *testing.T) {
	t.Parallel()
	legal := func() map[string]any {
		return map[string]any{"dim": 4, "layers": 2, "delta": 1, "policy": "window", "aggregate": "pna", "message": "distmult",
			"dependent": false, "degree_messages": false, "delta_mode": "fixed", "attention": nil, "temperature": 1.0,
			"adversarial_temperature": 0.5, "remove": "triple"}
	}
	read := func(fields map[string]any) (configuration.Configuration, error) {
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return readConfiguration(text)
	}
	c, err := read(legal())
	if err != nil {
		t.Fatal(err)
	}
	if !c.Bias || c.Dim != 4 || c.Dependent || c.Attention != "" {
		t.Errorf("read\n%s", c)
	}
	for field, value := range map[string]any{"policy": "astar", "gates": true, "dropout": 0.1, "message": "complex", "delta": "wide"} {
		fields := legal()
		fields[field] = value
		if _, err := read(fields); err == nil {
			t.Errorf("%s = %v is no error", field, value)
		}
	}
	for field := range legal() {
		fields := legal()
		delete(fields, field)
		if _, err := read(fields); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("without %s: error is %v", field, err)
		}
	}
}

func TestSetsAreReadStrictly(t *testing.T) {
	t.Parallel()
	layout := []parameters.Shape{{Name: "a", Shape: []int{2}}, {Name: "b", Shape: []int{1, 3}}}
	good := map[string]tensor{"a": {[]int{2}, []float64{1, 2}}, "b": {[]int{1, 3}, []float64{3, 4, 5}}}
	set, err := readSet(layout, good)
	if err != nil {
		t.Fatal(err)
	}
	if set.Data("b")[2] != 5 || set.Data("a")[0] != 1 {
		t.Errorf("read %v", set.Tensors)
	}
	for name, bad := range map[string]map[string]tensor{
		"missing": {"a": good["a"]},
		"extra":   {"a": good["a"], "b": good["b"], "c": good["a"]},
		"shape":   {"a": good["a"], "b": {[]int{3}, []float64{3, 4, 5}}},
		"size":    {"a": good["a"], "b": {[]int{1, 3}, []float64{3, 4}}},
	} {
		if _, err := readSet(layout, bad); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name      string
		got, want []float64
		equal     bool
	}{
		{"equal", []float64{1, -2}, []float64{1, -2}, true},
		{"within the largest's share", []float64{0.015, 200}, []float64{0, 200}, true},
		{"beyond it", []float64{0.025, 200}, []float64{0, 200}, false},
		{"noise where zeros belong", []float64{5e-8}, []float64{0}, true},
		{"more than noise", []float64{5e-7}, []float64{0}, false},
		{"NaN", []float64{nan, 1}, []float64{0, 1}, false},
		{"NaN on both sides", []float64{nan}, []float64{nan}, false},
		{"infinity", []float64{inf, 1}, []float64{1, 1}, false},
		{"fewer", []float64{1}, []float64{1, 1}, false},
		{"nothing", nil, nil, true},
	} {
		err := Compare(test.name, test.got, test.want, Tolerance32)
		if (err == nil) != test.equal {
			t.Errorf("%s: error is %v", test.name, err)
		}
	}
}

func TestCompareSetsNamesEveryTensor(t *testing.T) {
	t.Parallel()
	layout := []parameters.Shape{{Name: "a", Shape: []int{2}}, {Name: "b", Shape: []int{2}}, {Name: "c", Shape: []int{1}}}
	want := parameters.NewSet[float64](layout)
	got := parameters.NewSet[float32](layout)
	if err := CompareSets(got, want, Tolerance32); err != nil {
		t.Fatal(err)
	}
	got.Data("a")[1], got.Data("c")[0] = 1, float32(math.NaN())
	err := CompareSets(got, want, Tolerance32)
	if err == nil || !strings.Contains(err.Error(), "a: 1 of 2") || !strings.Contains(err.Error(), "c: 1 of 1") || strings.Contains(err.Error(), "b:") {
		t.Errorf("error is %v", err)
	}
}
