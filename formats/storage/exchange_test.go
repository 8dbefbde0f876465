package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tagnet/formats/storage"
)

func TestExchange(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := storage.WriteFile(t.Context(), filepath.Join(root, name, "file"), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	exchanged, err := storage.Exchange(t.Context(), filepath.Join(root, "a"), filepath.Join(root, "b"))
	if err != nil || exchanged != (runtime.GOOS == "linux") {
		t.Fatalf("exchanged %v, %v", exchanged, err)
	}
	if want := map[bool]string{false: "a", true: "b"}[exchanged]; read(t, filepath.Join(root, "a", "file")) != want {
		t.Errorf("a does not have %s", want)
	}
	if exchanged, err := storage.Exchange(t.Context(), "mem://exchange/a", "mem://exchange/b"); exchanged || err != nil {
		t.Errorf("in memory: %v, %v", exchanged, err)
	}
	if exchanged, err := storage.Exchange(t.Context(), filepath.Join(root, "c"), filepath.Join(root, "b")); exchanged || err == nil && runtime.GOOS == "linux" {
		t.Errorf("a folder that does not exist: %v, %v", exchanged, err)
	}
}

// TestCanExchange asks where the folder for the probes is one, where it is gone, which is no answer, and where the
// storage has no exchange.
func TestCanExchange(t *testing.T) {
	root := t.TempDir()
	if can, err := storage.CanExchange(t.Context(), filepath.Join(root, "a")); err != nil || can != (runtime.GOOS == "linux") {
		t.Errorf("%v, %v", can, err)
	}
	if can, err := storage.CanExchange(t.Context(), filepath.Join(root, "gone", "a")); can || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v, %v", can, err)
	}
	if can, err := storage.CanExchange(t.Context(), "mem://exchange/a"); can || err != nil {
		t.Errorf("in memory: %v, %v", can, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
