package command

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tagnet/model/budget"
)

// TestDivideSaysFewerThreads holds that fewer threads than cores are said, once, and that as
// many as were asked for are had or refused.
func TestDivideSaysFewerThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	need := budget.Need{Fixed: []budget.Part{{Name: "graph", Bytes: 100 * budget.MiB}}, Thread: 200 * budget.MiB}
	var out bytes.Buffer
	e := &Environment{Out: &out}
	for range 2 {
		share, err := e.Divide(need, 800, 0)
		if err != nil || share.Threads != 2 {
			t.Fatalf("%+v, %v", share, err)
		}
	}
	if want := "2 threads: --memory 800 MiB holds no more for 4 cores; nothing else changes\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	out.Reset()
	if share, err := e.Divide(need, 4000, 0); err != nil || share.Threads != 4 || out.Len() > 0 {
		t.Errorf("%+v, %v, %q", share, err, out.String())
	}
	_, err := e.Divide(need, 800, 3)
	var usage *UsageError
	least := 160 + 9*(100+3*200+24)/8 + 1
	if !errors.As(err, &usage) || !strings.HasPrefix(usage.Text, fmt.Sprintf("--memory is 800: want %d MiB or more: ", least)) {
		t.Errorf("%v, want at least %d", err, least)
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
