package kernels

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/device/interpreter"
)

// declaration matches the declaration of a kernel.
var declaration = regexp.MustCompile(`(?m)^\.visible \.entry (\S+)\(`)

// entries returns the names of the kernels in PTX.
func entries(ptx string) []string {
	var names []string
	for _, match := range declaration.FindAllStringSubmatch(ptx, -1) {
		names = append(names, match[1])
	}
	return names
}

// all returns the embedded PTX by file name.
func all(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(files, "*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// TestEntries checks that each file has kernels whose names are those of the source, which C++ would otherwise change,
// and that drivers since CUDA 12.4 load it.
func TestEntries(t *testing.T) {
	t.Parallel()
	for file, ptx := range all(t) {
		names := entries(ptx)
		if len(names) == 0 {
			t.Errorf("%s has no kernel", file)
		}
		if declared := strings.Count(ptx, ".entry "); declared != len(names) {
			t.Errorf("%s has %d kernels, of which %d are visible", file, declared, len(names))
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
	for file, ptx := range all(t) {
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
	for file, ptx := range all(t) {
		d := interpreter.New()
		if _, err := d.Load(ptx, entries(ptx)...); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestDimensionsHaveEqualKernels checks that a source has the same kernels in each dimension.
func TestDimensionsHaveEqualKernels(t *testing.T) {
	t.Parallel()
	texts := all(t)
	for file, ptx := range texts {
		name, narrow := strings.CutSuffix(file, "_32.ptx")
		if !narrow {
			continue
		}
		if diff := cmp.Diff(entries(ptx), entries(texts[name+"_64.ptx"])); diff != "" {
			t.Errorf("kernels of %s (-32 +64):\n%s", name, diff)
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	for file, ptx := range all(t) {
		name := strings.TrimSuffix(file, ".ptx")
		dims := []int{32, 64}
		for _, dim := range dims {
			if base, ok := strings.CutSuffix(name, map[int]string{32: "_32", 64: "_64"}[dim]); ok {
				name, dims = base, []int{dim}
				break
			}
		}
		for _, dim := range dims {
			if got, err := Source(name, dim); err != nil || got != ptx {
				t.Errorf("Source(%q, %d) is not %s: %v", name, dim, file, err)
			}
		}
	}
	if _, err := Source("absent", 32); err == nil {
		t.Error(`Source("absent", 32): want an error`)
	}
}
