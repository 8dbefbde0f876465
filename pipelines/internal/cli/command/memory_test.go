package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"tagnet/model/budget"
)

// TestPlanTellsOfFewerThreads expects that a plan with fewer threads than cores is told once, and
// that a number of threads that is given is planned or refused.
func TestPlanTellsOfFewerThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	estimate := budget.Estimate{Task: "scoring", Rows: []budget.Row{{Name: "graph", Bytes: 100 * budget.MiB}}, Thread: 200 * budget.MiB}
	var out bytes.Buffer
	e := &Environment{Out: &out}
	for range 2 {
		plan, err := e.Plan(estimate, 800, 0)
		if err != nil || plan.Threads != 2 {
			t.Fatalf("%+v, %v", plan, err)
		}
	}
	if want := "--memory 800 is enough for 2 of 4 threads; results do not change\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	out.Reset()
	if plan, err := e.Plan(estimate, 4000, 0); err != nil || plan.Threads != 4 || out.Len() > 0 {
		t.Errorf("%+v, %v, %q", plan, err, out.String())
	}
	_, err := e.Plan(estimate, 800, 3)
	var usage *UsageError
	least := 160 + 9*(100+3*200+24)/8 + 1
	if !errors.As(err, &usage) || !strings.HasPrefix(usage.Text, fmt.Sprintf("--memory 800 is too small: scoring with 3 threads takes at least %d MiB (Go and Beam 160, graph 100, ", least)) {
		t.Errorf("%v, want at least %d", err, least)
	}
}

// TestRemediesOfLittleMemory holds what is added to the error of a --memory that is too small, and to no other.
func TestRemediesOfLittleMemory(t *testing.T) {
	estimate := budget.Estimate{Task: "training", Rows: []budget.Row{{Name: "graph", Bytes: 4000 * budget.MiB}}}
	_, small := (&Environment{Out: io.Discard}).Plan(estimate, 800, 1)
	for end, got := range map[string]error{
		"add --bundles, which holds no graph": OrBundles(small),
		"or add --reach 2000, with which a query propagates through a part of the graph, and --memory 1500": OrReach(small, 1500*budget.MiB),
		small.Error(): OrReach(small, 3000*budget.MiB), // hardly less
	} {
		if !strings.HasPrefix(got.Error(), small.Error()) || !strings.HasSuffix(got.Error(), end) || !errors.As(got, new(*UsageError)) {
			t.Errorf("%v does not end with %s", got, end)
		}
	}
	if got := OrBundles(OrReach(io.EOF, 0)); got != io.EOF {
		t.Errorf("another error becomes %v", got)
	}
}

// TestCheckMemory holds that a value beyond the bounds is told both of them.
func TestCheckMemory(t *testing.T) {
	for memory, good := range map[int64]bool{-1: false, 0: false, 1: true, 1 << 20: true, 1<<43 - 1: true, 1 << 43: false} {
		err := CheckMemory(memory)
		if (err == nil) != good {
			t.Errorf("%d: %v", memory, err)
		}
		if err != nil && err.Error() != fmt.Sprintf("--memory is %d: want 1 to %d MiB", memory, int64(1<<43-1)) {
			t.Error(err)
		}
	}
}
