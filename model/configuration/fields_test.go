package configuration

import (
	"encoding/json"
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

func TestEncode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, text, want, err string }{
		{"dim", "24", "24", ""}, {"dim", "2.5", "", "want a whole number"},
		{"dropout", ".5", "0.5", ""}, {"dropout", "half", "", "want a number"}, {"dropout", "inf", "", "want a finite number"},
		{"bias", "1", "true", ""}, {"bias", "yes", "", "want true or false"},
		{"policy", "full", `"full"`, ""},
	} {
		f, _ := FieldNamed(c.field)
		got, err := f.Encode(c.text)
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s %s: %s, %v, want %s, %s", c.field, c.text, got, err, c.want, c.err)
		}
	}
}
