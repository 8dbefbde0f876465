package strict

import (
	"math"
	"strings"
	"testing"
)

// value is Checked and returns its error.
type value struct{ err error }

func (v value) Check() error { return v.err }

func TestNumbers(t *testing.T) {
	nan, infinite := math.NaN(), math.Inf(1)
	bad := value{Count("n", -1)}
	for name, c := range map[string]struct {
		err  error
		want string // "" without an error
	}{
		"count":            {Count("n", 0), ""},
		"negative":         {Count("n", int64(-1)), "n is -1, want 0 or more"},
		"between":          {Between("n", 3, 3, 3), ""},
		"below":            {Between("n", 2, 3, 4), "n is 2, want 3 to 4"},
		"above":            {Between("n", 5, 3, 4), "n is 5, want 3 to 4"},
		"share":            {First(Share("x", 0), Share("x", 1)), ""},
		"more than all":    {Share("x", 1.5), "x is 1.5, want 0 to 1"},
		"share of nothing": {Share("x", nan), "x is NaN, want 0 to 1"},
		"zero":             {AtLeastZero("x", 0), ""},
		"below zero":       {AtLeastZero("x", -.5), "x is -0.5, want 0 or more"},
		"infinite":         {AtLeastZero("x", infinite), "x is +Inf, want 0 or more"},
		"finite":           {Finite("x", -1), ""},
		"not finite":       {First(nil, Finite("x", nan), Finite("x", infinite)), "x is NaN, want a finite number"},
		"numbers":          {Numbers("w", []float32{0, -math.MaxFloat32, math.SmallestNonzeroFloat32}), ""},
		"a NaN":            {Numbers("w", []float32{0, float32(nan)}), "w[1] is NaN, want a finite number"},
		"an infinite one":  {Numbers("w", []float32{float32(infinite)}), "w[0] is +Inf, want a finite number"},
		"counts":           {Counts("rows", map[string]int64{"c": 1, "b": -2, "a": -3}), "rows.a is -3, want 0 or more"},
		"value":            {Value("v", value{}), ""},
		"bad value":        {Value("v", bad), "v.n is -1, want 0 or more"},
		"map":              {Each("m", map[string]value{"a": {}, "b": bad}, Value), "m.b.n is -1, want 0 or more"},
		"optional":         {First(Optional("x", &nan, Share), Optional("y", nil, Share)), "x is NaN, want 0 to 1"},
		"nothing":          {Optional("y", nil, Share), ""},
		"list":             {List("l", []value{{}, bad}), "l[1].n is -1, want 0 or more"},
	} {
		if got := text(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFileName(t *testing.T) {
	for _, name := range []string{"a.arrow", "test/b.arrow", ".lock", "..a", "a b"} {
		if err := FileName("name", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "/", "/a", "../a", "a/../../b", "a/", "a//b", `..\a`, "a\x00"} {
		if err := FileName("name", name); err == nil || !strings.Contains(err.Error(), "name is ") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}
