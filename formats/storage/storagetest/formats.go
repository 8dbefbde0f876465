package storagetest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files in testdata")

// EveryDamage reads the file cut at every length, with every single bit flipped, and with a
// byte more; each read must fail with an error that names the file.
func EveryDamage(t *testing.T, url string, read func(url string) error) {
	t.Helper()
	ctx := t.Context()
	whole, err := storage.ReadFile(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	if err := read(url); err != nil {
		t.Fatalf("the whole file: %v", err)
	}
	bad := storage.Join("mem://damage", t.Name(), storage.Base(url))
	// A damaged copy must be an error that names the copy.
	try := func(data []byte, damage string, at int) {
		if err := storage.WriteFile(ctx, bad, data); err != nil {
			t.Fatal(err)
		}
		if err := read(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s %d of %d: error %v, want one that names the file", damage, at, len(whole), err)
		}
	}
	for n := range whole {
		try(whole[:n], "cut at byte", n)
	}
	for n := range whole {
		for bit := range 8 {
			flipped := slices.Clone(whole)
			flipped[n] ^= 1 << bit
			try(flipped, "flipped bit in byte", n)
		}
	}
	try(append(slices.Clone(whole), 0), "a byte more than", len(whole))
}

// SameBytes writes a file again with other numbers of processors; the bytes must not change.
func SameBytes(t *testing.T, write func(url string) error) {
	t.Helper()
	ctx := t.Context()
	var first []byte
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, processors := range []int{1, 2, 7, 1} {
		runtime.GOMAXPROCS(processors)
		url := storage.Join("mem://same", t.Name())
		if err := write(url); err != nil {
			t.Fatal(err)
		}
		data, err := storage.ReadFile(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = data
		}
		if !bytes.Equal(data, first) {
			t.Errorf("written on %d processors the file has other bytes", processors)
		}
	}
}

// Golden compares what write makes with the file of that name in testdata, which -rewrite
// replaces, and returns the golden file's path, for reading it.
func Golden(t *testing.T, name string, write func(url string) error) string {
	t.Helper()
	golden := filepath.Join("testdata", name)
	made := filepath.Join(t.TempDir(), name)
	if err := write(made); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v; -rewrite makes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has other bytes now; if that is wanted, raise the format's version and run with -rewrite", name)
	}
	return golden
}
