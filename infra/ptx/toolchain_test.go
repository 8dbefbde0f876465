package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// published makes two wheels with a compiler and an assembler, and the function that installs them.
func published(t *testing.T) ([]wheel, installFunc, *int) {
	t.Helper()
	installs := 0
	install := func(_ context.Context, wheels []wheel, folder string) error {
		installs++
		for _, name := range []string{"nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cuda_nvcc/bin/ptxas"}[:len(wheels)] {
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("program"), 0o755); err != nil {
				return err
			}
		}
		return nil
	}
	return []wheel{{"a", "1.0", "0a"}, {"b", "2.0", "0b"}}, install, &installs
}

// TestRequirements checks that pip gets the checksum of every wheel: without one it accepts any file.
func TestRequirements(t *testing.T) {
	t.Parallel()
	wheels, _, _ := published(t)
	if got, want := requirements(wheels), "a==1.0 --hash=sha256:0a\nb==2.0 --hash=sha256:0b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestObtain(t *testing.T) {
	t.Parallel()
	wheels, install, installs := published(t)
	caches := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		tools, err := obtain(context.Background(), caches, wheels, install, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		want := toolchain{
			nvrtc: filepath.Join(caches, "cuda-1.0-2.0/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
			ptxas: filepath.Join(caches, "cuda-1.0-2.0/nvidia/cuda_nvcc/bin/ptxas"),
		}
		if tools != want {
			t.Errorf("got %v, want %v", tools, want)
		}
	}
	if *installs != 1 {
		t.Errorf("%d installations, want 1: the second call finds what the first left", *installs)
	}
	if diff := cmp.Diff([]string{"cuda-1.0-2.0"}, listing(t, caches)); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}

// TestObtainAfterAnother checks that a process that finishes second uses what the first one left.
func TestObtainAfterAnother(t *testing.T) {
	t.Parallel()
	wheels, install, _ := published(t)
	caches := t.TempDir()
	overtaken := func(ctx context.Context, wheels []wheel, folder string) error {
		if _, err := obtain(ctx, caches, wheels, install, io.Discard); err != nil {
			return err
		}
		return install(ctx, wheels, folder)
	}
	if _, err := obtain(context.Background(), caches, wheels, overtaken, io.Discard); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cuda-1.0-2.0"}, listing(t, caches)); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}

// TestObtainLeavesNothingBehind checks that an installation that fails leaves no folder that a later run takes for a
// toolchain.
func TestObtainLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	wheels, install, _ := published(t)
	failing := func(ctx context.Context, wheels []wheel, folder string) error {
		return errors.Join(install(ctx, wheels[:1], folder), errors.New("no network"))
	}
	caches := t.TempDir()
	if _, err := obtain(context.Background(), caches, wheels, failing, io.Discard); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("got %v, want an error with \"no network\"", err)
	}
	if left := listing(t, caches); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// TestIncompleteToolchain checks that a toolchain from which files were deleted is reported with what to remove.
func TestIncompleteToolchain(t *testing.T) {
	t.Parallel()
	wheels, install, _ := published(t)
	caches := t.TempDir()
	tools, err := obtain(context.Background(), caches, wheels, install, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(tools.ptxas); err != nil {
		t.Fatal(err)
	}
	want := "remove " + filepath.Join(caches, "cuda-1.0-2.0")
	if _, err := obtain(context.Background(), caches, wheels, install, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
	if _, err := locate(context.Background(), filepath.Join(caches, "cuda-1.0-2.0", "nvidia"), io.Discard); err == nil {
		t.Error("--toolchain with an incomplete folder: want an error")
	}
}
