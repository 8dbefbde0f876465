package pytorch

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzPickle checks for any pickle that it is a value or a one-line error, and that tensors have names of their own
// and lie in their storages.
func FuzzPickle(f *testing.F) {
	f.Add(good)
	f.Add(program("cposix\nsystem\n", text("true"), tuple1, reduce, "."))
	f.Add(program("}", "q\x00", text("w"), "h\x00", "s."))
	files, err := filepath.Glob("testdata/*.pth")
	if err != nil {
		f.Fatal(err)
	}
	published, err := filepath.Glob(filepath.Join(os.Getenv("TAGNET_DATA"), "ultra", "*.pth"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, published...) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			continue // the legacy format
		}
		opened := &File{entries: map[string]*zip.File{pickleEntry: archive.File[0]}}
		pickle, err := opened.read(pickleEntry, maxPickle)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(pickle)
	}
	f.Fuzz(func(t *testing.T, pickle []byte) {
		root, err := unpickle(pickle)
		if err != nil {
			if bytes.ContainsAny([]byte(err.Error()), "\n\x1b") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		tensors, err := (&File{root: root}).StateDict()
		if err != nil {
			return
		}
		named := map[string]bool{}
		for _, tensor := range tensors {
			if named[tensor.Name] {
				t.Errorf("two tensors are named %q", tensor.Name)
			}
			named[tensor.Name] = true
			size := int64(1)
			for _, n := range tensor.Shape {
				size *= int64(n)
			}
			s := tensor.stored
			if size != s.count || s.offset < 0 || s.count < 0 || s.count > s.storage.count-s.offset {
				t.Errorf("%+v does not lie in its storage", s)
			}
		}
	})
}

// FuzzOpen checks for any file that reading it ends, with as many numbers as the file can have.
func FuzzOpen(f *testing.F) {
	f.Add(around(f, good))
	f.Add(overlapping(f))
	for _, name := range []string{"optimizer.pth", "types.pth", "legacy.pth"} {
		f.Add(saved(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, err := load(data)
		if err != nil {
			return
		}
		numbers := 0
		for _, tensor := range tensors {
			numbers += len(tensor.Data)
		}
		if 2*numbers > len(data) {
			t.Errorf("%d numbers in %d bytes", numbers, len(data))
		}
	})
}
