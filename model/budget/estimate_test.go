package budget

import (
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tagnet/model/weights/configuration"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	e := Estimate{Rows: []Row{{"graph", 100 * MiB}, {"parameters", 20 * MiB}}, Thread: 40 * MiB}
	// 160 + 9/8 (120 + 40 a thread + 24 of elements)
	for _, test := range []struct {
		budget         int64
		threads, cores int
		planned, max   int
	}{
		{160 + 9*(120+40+24)/8, 1, 8, 1, 1},
		{160 + 9*(120+80+24)/8, 2, 1, 2, 2},
		{160 + 9*(120+80+24)/8, 0, 8, 2, 2},
		{159 + 9*(120+80+24)/8, 0, 8, 1, 1},
		{160 + 9*(120+80+48)/8, 2, 8, 2, 2},
		{160 + 9*(120+40*4+24)/8, 0, 3, 3, 4},
		{160 + 9*(120+40*99+24)/8 + 3, 0, 4, 4, 99},
	} {
		p, err := e.Plan(test.budget*MiB, test.threads, test.cores)
		if err != nil || p.Threads != test.planned || p.MaxThreads != test.max {
			t.Errorf("%+v: %+v, %v", test, p, err)
		}
	}
}

// TestLeastIsEnough expects that the budget which an error names is enough, and a little less is not.
func TestLeastIsEnough(t *testing.T) {
	t.Parallel()
	for _, thread := range []int64{0, 1, 7 * MiB, 100*MiB + 1} {
		for threads := range 4 {
			e := Estimate{Task: "scoring", Rows: []Row{{"graph", 12345678}}, Thread: thread}
			_, err := e.Plan(MiB, threads, 1)
			var small *TooSmall
			if !errors.As(err, &small) {
				t.Fatalf("%v", err)
			}
			if small.Least != e.Least(max(1, threads)) {
				t.Errorf("%d threads of %d: the error names %d bytes, Least %d", threads, thread, small.Least, e.Least(max(1, threads)))
			}
			if _, err := e.Plan(small.Least, threads, 1); err != nil {
				t.Errorf("%d threads of %d: %d bytes are not enough: %v", threads, thread, small.Least, err)
			}
			if _, err := e.Plan(small.Least-2*MiB, threads, 1); err == nil {
				t.Errorf("%d threads of %d: less than %d bytes is enough", threads, thread, small.Least)
			}
			for _, words := range []string{"scoring with ", "takes at least ", "Go and Beam 160", "graph 12", " thread", "elements 24", "garbage"} {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q lacks %q", err, words)
				}
			}
		}
	}
}

// TestRowsOfErrorAddUp adds the numbers in the parentheses of an error.
func TestRowsOfErrorAddUp(t *testing.T) {
	t.Parallel()
	for _, unit := range []int64{1, 300_000, 700_000, 1_500_000, MiB} {
		e := Estimate{Task: "scoring", Rows: []Row{{"graph", 7 * unit}, {"queries", unit}, {"parameters", unit}, {"rankings", 3 * unit}}, Thread: unit}
		_, err := e.Plan(MiB, 3, 1)
		if err == nil {
			t.Fatal("no error")
		}
		total, rows, _ := strings.Cut(err.Error(), " MiB (")
		want, sum := last(t, total), int64(0)
		for row := range strings.SplitSeq(strings.TrimSuffix(rows, ")"), ", ") {
			n := last(t, row)
			if n < 0 {
				t.Errorf("%d: a negative row in %q", unit, err)
			}
			sum += n
		}
		if sum != want {
			t.Errorf("%d: the rows add up to %d in %q", unit, sum, err)
		}
	}
}

// last returns the number that a text ends in.
func last(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text[strings.LastIndexByte(text, ' ')+1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTogether adds trainers of one graph, each on a device: what they share counts once.
func TestTogether(t *testing.T) {
	t.Parallel()
	s, c := Sizes{Entities: 1000, Edges: 20_000, Relations: 20, OnDevice: true}, configuration.Default()
	one := Train(s, c)
	three := one.Together(s, 3)
	if got, want := three.Thread, 3*one.Thread; got != want {
		t.Errorf("%d bytes a thread, want %d", got, want)
	}
	for i, r := range three.Rows {
		want := map[string]int64{
			"graph": one.Rows[i].Bytes, "queries": one.Rows[i].Bytes + 2*24*s.Edges, "parameters": 3 * one.Rows[i].Bytes, "batch": 3 * one.Rows[i].Bytes,
		}[r.Name]
		if r.Bytes != want || r.Bytes == 0 {
			t.Errorf("%s: %d bytes, want %d", r.Name, r.Bytes, want)
		}
	}
	if alone := one.Together(s, 1); !slices.Equal(alone.Rows, one.Rows) || alone.Thread != one.Thread {
		t.Errorf("one trainer: %+v, want %+v", alone, one)
	}
}

// TestWidest expects the most sources at once with which every core has a thread.
func TestWidest(t *testing.T) {
	t.Parallel()
	estimate := func(words int) Estimate { return Estimate{Thread: int64(words) * 100 * MiB} }
	for _, test := range []struct {
		mib         int64
		cores, want int
	}{{250, 2, 1}, {320, 2, 1}, {430, 2, 1}, {660, 2, 2}, {1110, 2, 4}, {2100, 2, 8}, {100_000, 2, 8}, {1110, 1, 8}} {
		if got := Widest(estimate, test.mib*MiB, test.cores); got != test.want {
			t.Errorf("%d MiB and %d cores: %d words, want %d", test.mib, test.cores, got, test.want)
		}
	}
}

func TestLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	restore := Limit(1024 * MiB)
	if got := debug.SetMemoryLimit(-1); got != 944*MiB {
		t.Errorf("the limit is %d", got)
	}
	inner := Limit(2048 * MiB)
	if got := debug.SetMemoryLimit(-1); got != 944*MiB {
		t.Errorf("a larger budget makes the limit %d", got)
	}
	inner()
	restore()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("afterwards the limit is %d", got)
	}
}

// TestThreadsFollowReach compares the threads of a training and of scoring on a graph with those on one of a hundred times the size, which
// with a reach differ by what a thread has for each entity alone: its scores.
func TestThreadsFollowReach(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Reach = 20_000
	small := Sizes{Entities: 1_000_000, Edges: 8_000_000, Relations: 1000}
	large := Sizes{Entities: 100_000_000, Edges: 800_000_000, Relations: 1000}
	most := 20 * (large.Entities - small.Entities)
	for name, thread := range map[string]func(Sizes) int64{
		"training": func(s Sizes) int64 { return Train(s, c).Thread },
		"scoring":  func(s Sizes) int64 { return Score(s, c, 10, 1<<17).Thread },
	} {
		if more := thread(large) - thread(small); more > most {
			t.Errorf("%s: a thread takes %d bytes more on the larger graph, want at most %d", name, more, most)
		}
	}
}

// TestComparing counts what baselines hold of a graph, and nothing where parts of it are read.
func TestComparing(t *testing.T) {
	t.Parallel()
	s := Sizes{Entities: 1000, Edges: 1 << 20, Relations: 10}
	scoring := Score(s, configuration.Default(), 10, 1<<17)
	if got := scoring.Comparing(s).Least(1) - scoring.Least(1); got < 12*MiB {
		t.Errorf("baselines of a million edges take %d bytes more, want at least 12 MiB", got)
	}
	s.Outlined = true
	if got := scoring.Comparing(s).Least(1) - scoring.Least(1); got != 0 {
		t.Errorf("without a graph they take %d bytes more", got)
	}
}
