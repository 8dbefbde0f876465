package pipelinetest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

// Read returns the contents of a file at a path or URL.
func Read(t testing.TB, elements ...string) string {
	t.Helper()
	data, err := storage.ReadFile(context.Background(), storage.Join(elements[0], elements[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Write writes a local file and the folders above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Remove removes a local file or folder.
func Remove(t testing.TB, elements ...string) {
	t.Helper()
	path := filepath.Join(elements...)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// Flip changes a bit in the middle of a local file.
func Flip(t testing.TB, elements ...string) {
	t.Helper()
	path := filepath.Join(elements...)
	data := []byte(Read(t, path))
	data[len(data)/2] ^= 8
	Write(t, path, string(data))
}

// Cut shortens a local file by a third.
func Cut(t testing.TB, elements ...string) {
	t.Helper()
	path := filepath.Join(elements...)
	data := Read(t, path)
	Write(t, path, data[:len(data)*2/3])
}

// Files returns the contents of all files below a folder, as storagetest.Files does.
func Files(t testing.TB, folder string) map[string]string {
	t.Helper()
	return storagetest.Files(t, folder)
}

// Same reports the differences between two folders that Files read.
func Same(t testing.TB, got, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("names of files (-want +got):\n%s", diff)
	}
	for name, text := range want {
		if other, ok := got[name]; ok {
			SameText(t, name, other, text)
		}
	}
}

// longestDiff is the longest text whose lines are compared one by one.
const longestDiff = 64 << 10

// SameText reports where two texts differ, line by line unless they are long or binary.
func SameText(t testing.TB, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	if len(got)+len(want) <= longestDiff && utf8.ValidString(got) && utf8.ValidString(want) {
		t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s: %d bytes, want %d; the first difference is at byte %d", name, len(got), len(want), at)
}
