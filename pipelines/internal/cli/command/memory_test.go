package command

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tagnet/model/budget"
)

// TestFewerThreadsAreTold expects one message if the memory allows fewer threads than there are cores, and
// that a given number of threads is either used or refused.
func TestFewerThreadsAreTold(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	estimate := budget.Estimate{Task: "scoring", Held: 100 * budget.MiB, Thread: 200 * budget.MiB}
	var out bytes.Buffer
	e := &Environment{Out: &out}
	for range 2 {
		a, err := e.Allot(estimate, 800, 0)
		if err != nil || a.Threads != 2 {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if want := "--memory 800 is enough for 2 of 4 threads; results do not change\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	out.Reset()
	if a, err := e.Allot(estimate, 4000, 0); err != nil || a.Threads != 4 || out.Len() > 0 {
		t.Errorf("%+v, %v, %q", a, err, out.String())
	}
	_, err := e.Allot(estimate, 800, 3)
	var usage *UsageError
	least := fmt.Sprint(estimate.Least(3) / budget.MiB)
	if want := "--memory 800 is too small: scoring with 3 threads takes at least " + least + " MiB, each thread 225 of them; give --memory " +
		least; !errors.As(err, &usage) || usage.Text != want {
		t.Errorf("%v, want %s", err, want)
	}
	e.Flags = flag.NewFlagSet("", flag.ContinueOnError)
	e.Flags.Int("threads", 0, "")
	e.Flags.Int("reach", 0, "")
	_, err = e.Allot(estimate, 800, 3)
	if want := "give --memory " + least + " or fewer --threads, or a --reach that covers less of the graph"; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want that it ends in %s", err, want)
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
