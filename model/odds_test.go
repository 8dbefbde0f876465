package model_test

import (
	"testing"

	"tagnet/model"
)

func TestOdds(t *testing.T) {
	if got := model.Odds(nil); got != "" {
		t.Errorf("no probability is %q", got)
	}
	for _, test := range []struct {
		p    float64
		want string
	}{
		{0, "under 1 in 1,000"}, {.00099, "under 1 in 1,000"}, {.001, "about 1 in 1,000"}, {.0021, "about 1 in 500"}, {.02, "about 1 in 50"},
		{.03, "about 1 in 30"}, {.0666, "about 1 in 15"}, {.09, "about 1 in 12"}, {.0949, "about 1 in 10"}, {.1, "about 1 in 10"}, {.31, "about 3 in 10"},
		{.5, "about 5 in 10"}, {.944, "about 9 in 10"}, {.95, "about 95 in 100"}, {.994, "about 99 in 100"}, {.995, "over 99 in 100"}, {1, "over 99 in 100"},
	} {
		if got := model.Odds(&test.p); got != test.want {
			t.Errorf("%v is %q, want %q", test.p, got, test.want)
		}
	}
}
