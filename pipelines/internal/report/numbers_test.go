package report

import (
	"math"
	"testing"
)

func TestWholePercent(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0%", 0.6: "60%", 1: "100%", 1. / 3: "33.33%", 0.000002: "0.0002%", 0.000003: "0.0003%", math.NaN(): "NaN%"} {
		if got := wholePercent(share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}
