package gpu

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// TestUnknownChoicesAreRefused gives each hyperparameter that is a choice a value that no device knows.
func TestUnknownChoicesAreRefused(t *testing.T) {
	t.Parallel()
	choices := 0
	for _, f := range configuration.Fields() {
		if f.Kind() != reflect.String {
			continue
		}
		choices++
		c := configuration.Default()
		if err := f.Set(&c, "made-up"); err != nil {
			t.Fatal(err)
		}
		checkRefused(t, Supports(c), UnsupportedError{f.Name, "made-up", computed[f.Name].String()})
	}
	if choices < 8 {
		t.Errorf("%d choices, want 8 or more", choices)
	}
	if err := Supports(configuration.Default()); err != nil {
		t.Error(err)
	}
}

// TestUnknownHyperparametersAreRefused adds a hyperparameter of each type to those that there are: a device refuses it
// with its default, too.
func TestUnknownHyperparametersAreRefused(t *testing.T) {
	t.Parallel()
	for _, like := range []string{"layers", "delta", "reach", "dropout", "bias", "message"} {
		f, _ := configuration.FieldNamed(like)
		f.Name = "margin"
		err := supports(append(configuration.Fields(), f), configuration.Default())
		checkRefused(t, err, UnsupportedError{Field: "margin", Value: f.Default})
	}
}

// TestRefusedValues gives hyperparameters values that only the CPU computes.
func TestRefusedValues(t *testing.T) {
	t.Parallel()
	for field, test := range map[string]struct{ value, want string }{
		"policy":  {"astar", "policy astar runs on the CPU alone (a device takes window, full)"},
		"dim":     {"129", "dim 129 runs on the CPU alone (a device takes 1 to 128)"},
		"message": {"rotate", "message rotate runs on the CPU alone (a device takes distmult)"},
		"reach":   {"4", "reach 4 runs on the CPU alone (a device takes 0)"},
	} {
		f, _ := configuration.FieldNamed(field)
		c := configuration.Default()
		if err := f.Set(&c, test.value); err != nil {
			t.Fatal(err)
		}
		if err := Supports(c); err == nil || err.Error() != test.want+"; use --device cpu" {
			t.Errorf("%s: error %v, want %s", field, err, test.want)
		}
	}
}

// checkRefused checks that an error is of a field.
func checkRefused(t *testing.T, err error, want UnsupportedError) {
	t.Helper()
	if got, is := errors.AsType[*UnsupportedError](err); !is || *got != want {
		t.Errorf("error %v, want %v", err, &want)
	}
}

// TestComputedNamesHyperparameters checks that nothing is listed that is no hyperparameter, and that
// numbers alone are free.
func TestComputedNamesHyperparameters(t *testing.T) {
	t.Parallel()
	for name, accepts := range computed {
		f, known := configuration.FieldNamed(name)
		if !known {
			t.Errorf("%s is no hyperparameter", name)
			continue
		}
		if number := f.Kind() == reflect.Int || f.Kind() == reflect.Float64; accepts.free && !number {
			t.Errorf("%s is free, want its values", name)
		}
	}
}

// TestOutlinesAreRefused gives a device a graph whose edges are not held.
func TestOutlinesAreRefused(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	outline := graph.Outline(s.graph.Entities, s.graph.BaseRelations, s.graph.Edges(), s.graph.MeanLogDegree, nil)
	_, err := NewScorer(interpreter.New(), outline, nil, s.configuration, s.parameters())
	if err == nil || !strings.Contains(err.Error(), "only parts of it are held; use --device cpu") {
		t.Errorf("error %v", err)
	}
}
