package report

import (
	"math"
	"testing"
)

func TestWholePercent(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0%", 0.6: "60%", 1: "100%", 1. / 3: "33.33%", 0.000002: "0.0002%", 0.000003: "0.0003%",
		math.NaN(): "NaN%"} {
		if got := wholePercent(share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{percent(0.92134), "92.1%"}, {percent(0), "0%"}, {percent(1), "100%"}, {percent(0.00001), "<0.1%"}, {percent(0.99999), ">99.9%"},
		{short(6531381360), "6.53G"}, {short(999), "999"}, {short(12), "12"}, {short(1500), "1.5k"},
		{duration(3.21), "3.2 s"}, {duration(59.7), "60 s"}, {duration(200), "3 min 20 s"}, {duration(7500), "2 h 5 min"},
		{plural(1, "fact", "facts"), "1 fact"}, {plural(1234, "fact", "facts"), "1,234 facts"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func TestCumulative(t *testing.T) {
	points := cumulative(map[int64]int64{1: 2, 2: 1, 100: 1})
	first, last := points[0], points[len(points)-1]
	if first.X != 1 || first.Y != 0.5 || points[1].Y != 0.75 || last.X != 100 || last.Y != 1 {
		t.Errorf("points %v", points)
	}
	if all := cumulative(map[int64]int64{1: 2}); len(all) < 2 || all[0].Y != 1 || all[len(all)-1].X != 10 {
		t.Errorf("all of rank 1: %v", all)
	}
	for i := 1; i < len(points); i++ {
		if !(points[i].X > points[i-1].X) || !(points[i].Y >= points[i-1].Y) {
			t.Errorf("point %d is not beyond the one before: %v", i, points)
		}
	}
}
