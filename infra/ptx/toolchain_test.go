package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is a file of a zip archive.
type entry struct {
	name, text string
	mode       fs.FileMode
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var text strings.Builder
	writer := zip.NewWriter(&text)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(e.mode)
		file, err := writer.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(file, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(text.String())
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "a.whl")
	write(t, folder, "a.whl", string(archive(t,
		entry{"nvidia/__init__.py", "", 0o644},
		entry{"nvidia/cuda_nvcc/", "", fs.ModeDir | 0o755},
		entry{"nvidia/cuda_nvcc/bin/ptxas", "program", 0o744},
	)))
	target := filepath.Join(folder, "unpacked")
	for range 2 { // a second archive may have some of the same files
		if err := unpack(path, target); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, target, "nvidia/cuda_nvcc/bin/ptxas"); got != "program" {
		t.Errorf("ptxas is %q", got)
	}
	for name, want := range map[string]bool{"nvidia/__init__.py": false, "nvidia/cuda_nvcc/bin/ptxas": true} {
		info, err := os.Stat(filepath.Join(target, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode()&0o100 != 0; got != want {
			t.Errorf("%s: executable %v, want %v", name, got, want)
		}
	}
}

func TestUnpackStaysInItsFolder(t *testing.T) {
	t.Parallel()
	for _, e := range []entry{
		{"../outside", "x", 0o644},
		{"nvidia/../../outside", "x", 0o644},
		{"/outside", "x", 0o644},
		{"nvidia/link", "../../outside", fs.ModeSymlink | 0o777},
	} {
		folder := t.TempDir()
		write(t, folder, "a.whl", string(archive(t, e)))
		if err := unpack(filepath.Join(folder, "a.whl"), filepath.Join(folder, "in", "unpacked")); err == nil {
			t.Errorf("%s: unpacked, want an error", e.name)
		}
		if diff := cmp.Diff([]string{"a.whl"}, withoutFolders(t, folder)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", e.name, diff)
		}
	}
}

// withoutFolders lists the files and links below a folder.
func withoutFolders(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// published makes two wheels with a compiler and an assembler, and the function that downloads them.
func published(t *testing.T) ([]wheel, downloadFunc, *int) {
	t.Helper()
	contents := map[string][]byte{
		"a.whl": archive(t, entry{"nvidia/__init__.py", "", 0o644}, entry{"nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "library", 0o644}),
		"b.whl": archive(t, entry{"nvidia/__init__.py", "", 0o644}, entry{"nvidia/cuda_nvcc/bin/ptxas", "program", 0o744}),
	}
	sum := func(name string) string {
		sum := sha256.Sum256(contents[name])
		return hex.EncodeToString(sum[:])
	}
	downloads := 0
	download := func(_ context.Context, w wheel, folder string) error {
		downloads++
		return os.WriteFile(filepath.Join(folder, w.file), contents[w.file], 0o600)
	}
	return []wheel{{"a", "1.0", "a.whl", sum("a.whl")}, {"b", "2.0", "b.whl", sum("b.whl")}}, download, &downloads
}

func TestObtain(t *testing.T) {
	t.Parallel()
	wheels, download, downloads := published(t)
	caches := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		tools, err := obtain(context.Background(), caches, wheels, download, io.Discard)
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
	if *downloads != 2 {
		t.Errorf("%d downloads, want 2: the second call finds what the first left", *downloads)
	}
	if diff := cmp.Diff([]string{"cuda-1.0-2.0"}, listing(t, caches)); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}

// TestObtainAfterAnother checks that a process that finishes second uses what the first one left.
func TestObtainAfterAnother(t *testing.T) {
	t.Parallel()
	wheels, download, _ := published(t)
	caches := t.TempDir()
	overtaken := func(ctx context.Context, w wheel, folder string) error {
		if w.project == "b" {
			if _, err := obtain(ctx, caches, wheels, download, io.Discard); err != nil {
				return err
			}
		}
		return download(ctx, w, folder)
	}
	if _, err := obtain(context.Background(), caches, wheels, overtaken, io.Discard); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cuda-1.0-2.0"}, listing(t, caches)); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}

// TestObtainLeavesNothingBehind checks that a download that fails, or that is not the file that was published, leaves
// no folder that a later run takes for a toolchain.
func TestObtainLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	wheels, download, _ := published(t)
	failure := errors.New("no network")
	for name, test := range map[string]struct {
		download downloadFunc
		want     string
	}{
		"failed": {func(ctx context.Context, w wheel, folder string) error {
			if w.project == "b" {
				return failure
			}
			return download(ctx, w, folder)
		}, "no network"},
		"changed": {func(ctx context.Context, w wheel, folder string) error {
			if w.project == "b" {
				return os.WriteFile(filepath.Join(folder, w.file), archive(t, entry{"nvidia/cuda_nvcc/bin/ptxas", "other", 0o744}), 0o600)
			}
			return download(ctx, w, folder)
		}, "b.whl has SHA-256"},
		"of another name": {func(_ context.Context, w wheel, folder string) error {
			return os.WriteFile(filepath.Join(folder, "other.whl"), nil, 0o600)
		}, "a.whl: no such file"},
	} {
		caches := t.TempDir()
		_, err := obtain(context.Background(), caches, wheels, test.download, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
		if left := listing(t, caches); len(left) > 0 {
			t.Errorf("%s: left %q", name, left)
		}
	}
}

// TestIncompleteToolchain checks that a toolchain from which files were deleted is reported with what to remove.
func TestIncompleteToolchain(t *testing.T) {
	t.Parallel()
	wheels, download, _ := published(t)
	caches := t.TempDir()
	tools, err := obtain(context.Background(), caches, wheels, download, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(tools.ptxas); err != nil {
		t.Fatal(err)
	}
	want := "remove " + filepath.Join(caches, "cuda-1.0-2.0")
	if _, err := obtain(context.Background(), caches, wheels, download, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
	if _, err := locate(context.Background(), filepath.Join(caches, "cuda-1.0-2.0", "nvidia"), io.Discard); err == nil {
		t.Error("--toolchain with an incomplete folder: want an error")
	}
}
