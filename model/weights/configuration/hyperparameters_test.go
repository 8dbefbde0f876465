package configuration

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Dim, c.ShareStates = 24, true
	byName := map[string]any{}
	for _, f := range Fields() {
		byName[f.Name] = f.Of(c)
	}
	text, err := json.Marshal(byName)
	if err != nil {
		t.Fatal(err)
	}
	var again Configuration
	if err := again.Parse(text); err != nil || again != c {
		t.Errorf("%v: %s", err, again)
	}
	if f, known := FieldNamed("dim"); !known || f.Of(c) != 24 {
		t.Errorf("dim: %v, %v", f, known)
	}
	if f, known := FieldNamed("dims"); known {
		t.Errorf("dims: %v", f)
	}
}

// TestEveryFieldIsInTheTable holds that each field has a line, whose default has the field's type.
func TestEveryFieldIsInTheTable(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[Configuration]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if f, known := FieldNamed(name); !known {
			t.Errorf("%s is no hyperparameter", name)
		} else if f.field(new(Configuration)).Type() != of.Field(i).Type || f.Kind() != of.Field(i).Type.Kind() {
			t.Errorf("%s is not %s", name, of.Field(i).Type)
		}
	}
	if of.NumField() != len(Fields()) {
		t.Errorf("%d fields, %d hyperparameters", of.NumField(), len(Fields()))
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field, text string
		want        any
		err         string
	}{
		{"dim", "24", 24, ""}, {"dim", "2.5", 0, "want a whole number"},
		{"dropout", ".5", .5, ""}, {"dropout", "half", 0., "want a number"}, {"dropout", "inf", 0., "want a finite number"},
		{"bias", "1", true, ""}, {"bias", "yes", false, "want true or false"},
		{"policy", "full", "full", ""},
	} {
		f, _ := FieldNamed(c.field)
		var set Configuration
		err := f.Set(&set, c.text)
		if f.Of(set) != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s %s: %v, %v, want %v, %s", c.field, c.text, f.Of(set), err, c.want, c.err)
		}
	}
}

// TestResumed holds that a resumed training may change the number of epochs and where the learning rate
// ends, and nothing else.
func TestResumed(t *testing.T) {
	t.Parallel()
	before, by := Default(), Configuration{Epochs: 7, Dim: 8, LearningRate: 1, LeastLearningRate: .1}
	want := before
	want.Epochs, want.LeastLearningRate = 7, .1
	if got := before.Resumed(by); got != want {
		t.Errorf("%s", got)
	}
}
