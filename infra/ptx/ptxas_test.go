package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseResources reads what ptxas 12.4.131 printed for three kernels: one with a stack frame in a function that it
// calls, one that spills, and one in registers.
func TestParseResources(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "spills.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseResources(string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []function{
		{name: "indexes", kernel: true, registers: 15},
		{name: "calls", kernel: true, registers: 32, shared: 128, stack: 64},
		{name: "_Z5chainPKfi"},
		{name: "spills", kernel: true, registers: 64, stack: 1808, stores: 2192, loads: 2444},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(function{})); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	var named []string
	for _, problem := range excesses(got, false) {
		named = append(named, problem.Error())
	}
	if len(named) != 2 || !strings.Contains(named[0], "calls takes local memory") || !strings.Contains(named[1], "spills takes local memory") {
		t.Errorf("local memory is reported of %q, want kernels calls and spills", named)
	}
}

func TestParseResourcesRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		"ptxas info    : 0 bytes gmem\n",
		"ptxas info    : Used 15 registers\n",
		"ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Function properties for k\n",
	} {
		if got, err := parseResources(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// TestExcesses checks that each kind of local memory is a problem by itself, as is too much shared memory.
func TestExcesses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		function function
		want     int
	}{
		{function{}, 0},
		{function{registers: 255, shared: 49152}, 0},
		{function{shared: 49153}, 1},
		{function{shared: 49156, loads: 4}, 2},
		{function{stack: 8}, 1},
		{function{stores: 4}, 1},
		{function{loads: 4}, 1},
	} {
		if got := excesses([]function{test.function}, false); len(got) != test.want {
			t.Errorf("%+v: %d problems, want %d", test.function, len(got), test.want)
		}
	}
	if got := excesses([]function{{stack: 8, stores: 4, loads: 4}}, true); len(got) > 0 {
		t.Errorf("local memory is allowed: got %v", got)
	}
}

func TestPrintResources(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printResources(&out, []function{
		{file: "update_32.ptx", architecture: "sm_80", name: "update", kernel: true, registers: 64, shared: 13056},
		{file: "update_32.ptx", architecture: "sm_80", name: "called", stack: 16},
		{file: "update_32.ptx", architecture: "sm_90", name: "update", kernel: true, registers: 70, shared: 13056, stack: 16},
	})
	want := `file           kernel  sm_80 registers  shared  local  sm_90 registers  shared  local
update_32.ptx  update  64               13056   0      70               13056   16
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
