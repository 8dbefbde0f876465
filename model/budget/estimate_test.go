package budget

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"tagnet/model/weights/configuration"
)

func TestAllot(t *testing.T) {
	t.Parallel()
	if got, want := (Estimate{"a", 3, 1}).Or(Estimate{"b", 1, 2}), (Estimate{"a", 3, 2}); got != want {
		t.Errorf("the larger of two is %v, want %v", got, want)
	}
	e := Estimate{Held: 120 * MiB, Thread: 40 * MiB}
	base := int64(Base / MiB)
	for _, test := range []struct {
		budget                   int64
		threads, cores           int
		wantThreads, mostThreads int
	}{
		{base + 9*(120+40)/8, 1, 8, 1, 1},
		{base + 9*(120+80)/8, 2, 1, 2, 2},
		{base + 9*(120+80)/8, 0, 8, 2, 2},
		{base + 9*(120+80)/8 - 1, 0, 8, 1, 1},
		{base + 9*(120+80+24)/8, 2, 8, 2, 2},
		{base + 9*(120+40*4)/8, 0, 3, 3, 4},
		{base + 9*(120+40*99)/8 + 3, 0, 4, 4, 99},
	} {
		p, err := e.Allot(test.budget*MiB, test.threads, test.cores)
		if err != nil || p.Threads != test.wantThreads || p.MaxThreads != test.mostThreads {
			t.Errorf("%+v: %+v, %v", test, p, err)
		}
	}
}

// TestLeastIsEnough expects that the budget which an error names is enough, and a little less is not.
func TestLeastIsEnough(t *testing.T) {
	t.Parallel()
	for _, thread := range []int64{0, 1, 7 * MiB, 100*MiB + 1} {
		for threads := range 4 {
			e := Estimate{Task: "scoring", Held: 12345678, Thread: thread}
			_, err := e.Allot(MiB, threads, 1)
			var small *TooSmall
			if !errors.As(err, &small) {
				t.Fatalf("%v", err)
			}
			if least := e.Least(max(1, threads)); small.Least != least {
				t.Errorf("%d threads of %d: the error names %d bytes, Least %d", threads, thread, small.Least, least)
			}
			if _, err := e.Allot(small.Least, threads, 1); err != nil {
				t.Errorf("%d threads of %d: %d bytes are not enough: %v", threads, thread, small.Least, err)
			}
			if _, err := e.Allot(small.Least-2*MiB, threads, 1); err == nil {
				t.Errorf("%d threads of %d: less than %d bytes is enough", threads, thread, small.Least)
			}
			if !strings.HasPrefix(err.Error(), "scoring with ") || !strings.Contains(err.Error(), "takes at least ") {
				t.Errorf("the error is %q", err)
			}
		}
	}
}

// TestBuffer divides what is free among threads, and leaves each the least.
func TestBuffer(t *testing.T) {
	t.Parallel()
	for free, want := range map[int64]int64{0: leastBuffer, 30 * MiB: leastBuffer + 10*MiB, 1 << 50: leastBuffer + mostBuffers/3} {
		if got := (Allotment{Threads: 3, Free: free}).Buffer(); got != want {
			t.Errorf("%d bytes free: a buffer of %d, want %d", free, got, want)
		}
	}
}

// TestWidest expects the most sources at once with which every core has a thread.
func TestWidest(t *testing.T) {
	t.Parallel()
	estimate := func(sources int) Estimate { return Estimate{Thread: int64(sources) * 100 * MiB} }
	for _, test := range []struct {
		mib         int64
		cores, want int
	}{{250, 2, 1}, {400, 2, 1}, {570, 2, 2}, {1020, 2, 4}, {2000, 2, 8}, {100_000, 2, 8}, {1020, 1, 8}} {
		if got := Widest(estimate, test.mib*MiB, test.cores); got != test.want {
			t.Errorf("%d MiB and %d cores: %d sources, want %d", test.mib, test.cores, got, test.want)
		}
	}
}

// TestWaves makes more files at a time where more is free, and where parts are small.
func TestWaves(t *testing.T) {
	t.Parallel()
	s, c := Sizes{Entities: 10_000, Edges: 100_000, Queries: 1000}, configuration.Default()
	c.Reach = 500
	e, guess := Parts(s, c, 64, 4)
	p, err := e.Allot(e.Least(1), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Waves(64, guess, guess); got != 1 {
		t.Errorf("%d files with the least memory, want 1", got)
	}
	if got := p.Waves(64, guess, guess/10); got != 10 {
		t.Errorf("%d files of smaller parts, want 10", got)
	}
	if got := (Allotment{Free: p.Free + runnerCopies*64*guess*3}).Waves(64, guess, guess); got != 4 {
		t.Errorf("%d files with more memory, want 4", got)
	}
}

func TestLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	Limit(0)()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("without a budget the limit is %d", got)
	}
	restore := Limit(1024 * MiB)
	if got := debug.SetMemoryLimit(-1); got != 1024*MiB-outside {
		t.Errorf("the limit is %d", got)
	}
	inner := Limit(2048 * MiB)
	if got := debug.SetMemoryLimit(-1); got != 1024*MiB-outside {
		t.Errorf("a larger budget makes the limit %d", got)
	}
	inner()
	restore()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("afterwards the limit is %d", got)
	}
}

// TestThreadsFollowReach compares a thread on a graph with that on one of a hundred times the size, which with a reach
// differ by what a thread has for each entity alone: its scores.
func TestThreadsFollowReach(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Reach = 20_000
	small := Sizes{Entities: 1_000_000, Edges: 8_000_000, Relations: 1000}
	large := Sizes{Entities: 100_000_000, Edges: 800_000_000, Relations: 1000}
	for _, training := range []bool{false, true} {
		u := Use{Training: training}
		if more, most := ForModel(large, c, u).Thread-ForModel(small, c, u).Thread, 20*(large.Entities-small.Entities); more > most {
			t.Errorf("training %v: a thread takes %d bytes more on the larger graph, want at most %d", training, more, most)
		}
	}
}

// TestDevices counts weights for each device, and no graph where queries are read with parts of it.
func TestDevices(t *testing.T) {
	t.Parallel()
	s, c := Sizes{Entities: 1000, Edges: 20_000, Relations: 20, Graph: 1 << 30}, configuration.Default()
	one, three := ForModel(s, c, Use{Training: true, Devices: 1}), ForModel(s, c, Use{Training: true, Devices: 3})
	if three.Thread != 3*one.Thread || three.Held <= one.Held {
		t.Errorf("three devices take %+v, one %+v", three, one)
	}
	c.Reach, s.Outlined = 100, true
	if e := ForModel(s, c, Use{}); e.Held >= s.Graph {
		t.Errorf("%d bytes are held without the graph", e.Held)
	}
}
