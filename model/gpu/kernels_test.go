package gpu

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/model/gpu/interpreter"
)

// sourceEnding matches what follows the name of a source in a file name.
var sourceEnding = regexp.MustCompile(`(_(32|64|128))?\.ptx$`)

// allKernels returns the embedded PTX by file name.
func allKernels(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(kernelFiles, "kernels/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := kernelFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[path.Base(name)] = string(text)
	}
	return texts
}

// TestEntries checks that each file has kernels whose names are those of the source, which C++ would otherwise change,
// and that drivers since CUDA 12.4 load it.
func TestEntries(t *testing.T) {
	t.Parallel()
	for file, ptx := range allKernels(t) {
		names := kernelEntries(ptx)
		if len(names) == 0 {
			t.Errorf("%s has no kernel", file)
		}
		if all := strings.Count(ptx, ".entry "); all != len(names) {
			t.Errorf("%s has %d kernels, of which %d are visible", file, all, len(names))
		}
		seen := map[string]bool{}
		for _, name := range names {
			if strings.HasPrefix(name, "_Z") {
				t.Errorf("%s: kernel %s is not extern \"C\"", file, name)
			}
			if seen[name] {
				t.Errorf("%s has kernel %s twice", file, name)
			}
			seen[name] = true
		}
		for _, directive := range []string{"\n.version 8.4\n", "\n.target sm_80\n", "\n.address_size 64\n"} {
			if !strings.Contains(ptx, directive) {
				t.Errorf("%s has no %s", file, strings.TrimSpace(directive))
			}
		}
	}
}

// inexact matches the instructions whose results a card rounds otherwise than Go.
var inexact = regexp.MustCompile(`\.(approx|full|ftz)\b`)

func TestArithmeticIsExact(t *testing.T) {
	t.Parallel()
	for file, ptx := range allKernels(t) {
		for i, line := range strings.Split(ptx, "\n") {
			if inexact.MatchString(line) {
				t.Errorf("%s:%d: %s rounds differently on a card and in Go", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// TestInterpreterLoadsAll checks that the interpreter knows every instruction, so that all kernels can be tested without
// a card.
func TestInterpreterLoadsAll(t *testing.T) {
	t.Parallel()
	for file, ptx := range allKernels(t) {
		d := interpreter.New()
		if _, err := d.Load(ptx, kernelEntries(ptx)...); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestSources checks that kernelSources lists the embedded files, in any order.
func TestSources(t *testing.T) {
	t.Parallel()
	embedded := map[string]bool{}
	for file := range allKernels(t) {
		embedded[sourceEnding.ReplaceAllString(file, "")] = true
	}
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(embedded)), slices.Sorted(slices.Values(kernelSources))); diff != "" {
		t.Errorf("sources (-embedded +listed):\n%s", diff)
	}
}

// TestDimensionsHaveEqualKernels checks that a source has the same kernels in each dimension.
func TestDimensionsHaveEqualKernels(t *testing.T) {
	t.Parallel()
	texts := allKernels(t)
	for file, ptx := range texts {
		if !strings.Contains(file, "_32") {
			continue
		}
		for _, dim := range []string{"64", "128"} {
			if diff := gocmp.Diff(kernelEntries(ptx), kernelEntries(texts[strings.Replace(file, "_32", "_"+dim, 1)])); diff != "" {
				t.Errorf("kernels of %s (-32 +%s):\n%s", file, dim, diff)
			}
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	texts := allKernels(t)
	for _, name := range kernelSources {
		for _, dim := range []int{32, 64, 128} {
			want := cmp.Or(texts[fmt.Sprintf("%s_%d.ptx", name, dim)], texts[name+".ptx"])
			if got, err := kernelSource(name, dim); err != nil || got != want || want == "" {
				t.Errorf("source(%q, %d) returns %d bytes and %v, want the %d bytes of its file", name, dim, len(got), err, len(want))
			}
		}
	}
	for _, test := range []struct {
		name string
		dim  int
	}{{"absent", 32}, {"update", 48}} {
		if _, err := kernelSource(test.name, test.dim); err == nil {
			t.Errorf("source(%q, %d): want an error", test.name, test.dim)
		}
	}
}
