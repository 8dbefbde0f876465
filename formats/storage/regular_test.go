package storage_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// link makes a symbolic link, or skips the test where there are none.
func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// write writes a file and the folders above it.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsWrittenThroughALink replaces and removes files whose names are symbolic links: their targets
// stay as they are.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	const text = "precious"
	swap := func(old, replacement []byte) func(context.Context, string) error {
		return func(ctx context.Context, url string) error {
			swapped, err := storage.CompareAndSwap(ctx, url, old, replacement)
			if swapped {
				t.Error("it was swapped")
			}
			return err
		}
	}
	for name, change := range map[string]func(context.Context, string) error{
		"write":          func(ctx context.Context, url string) error { return storage.WriteFile(ctx, url, []byte("x")) },
		"replace":        swap([]byte(text), []byte("x")),
		"create":         swap(nil, []byte("x")),
		"remove by swap": swap([]byte(text), nil),
	} {
		for _, scheme := range []string{"", "file://"} {
			for _, target := range []string{"precious", "folder", "absent"} {
				folder := t.TempDir()
				write(t, filepath.Join(folder, "precious"), text)
				write(t, filepath.Join(folder, "folder", "f"), text)
				at := filepath.Join(folder, "name")
				link(t, target, at)
				url := scheme + at
				err := change(t.Context(), url)
				if want := "writing " + url + ": it is a symbolic link, and nothing is written through one: remove it"; err == nil ||
					!strings.HasPrefix(err.Error(), want) {
					t.Errorf("%s, link to %s: error %v, want %s", name, target, err, want)
				}
				left, err := storage.List(t.Context(), folder)
				want := []string{filepath.Join(folder, "folder", "f"), at, filepath.Join(folder, "precious")}
				if err != nil || !slices.Equal(left, want) {
					t.Errorf("%s, link to %s: left %q, error %v", name, target, left, err)
				}
				for _, file := range []string{want[0], want[2]} {
					if got, err := os.ReadFile(file); string(got) != text || err != nil {
						t.Errorf("%s, link to %s: %s holds %q, error %v", name, target, file, got, err)
					}
				}
			}
		}
	}
}

// TestLinksAreRemoved removes folders that hold symbolic links to a file and to a folder: the links go,
// their targets stay.
func TestLinksAreRemoved(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(ctx context.Context, folder string) error{
		"Clear":     func(ctx context.Context, folder string) error { return storage.Clear(ctx, folder, "") },
		"RemoveAll": storage.RemoveAll,
		"Remove": func(ctx context.Context, folder string) error {
			return errors.Join(storage.Remove(ctx, filepath.Join(folder, "file")), storage.Remove(ctx, filepath.Join(folder, "folder")))
		},
	} {
		outer := t.TempDir()
		precious := filepath.Join(outer, "elsewhere", "precious")
		write(t, precious, "x")
		folder := filepath.Join(outer, "mine")
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		link(t, precious, filepath.Join(folder, "file"))
		link(t, filepath.Dir(precious), filepath.Join(folder, "folder"))
		if err := remove(t.Context(), folder); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := storage.List(t.Context(), outer); err != nil || !slices.Equal(left, []string{precious}) {
			t.Errorf("%s: left %q, error %v", name, left, err)
		}
		link(t, filepath.Dir(precious), filepath.Join(outer, "empty"))
		storage.RemoveEmpty(t.Context(), filepath.Join(outer, "empty"))
		if _, err := os.Lstat(filepath.Join(outer, "empty")); err != nil {
			t.Errorf("a link to a folder was taken for an empty folder: %v", err)
		}
	}
}

// TestCheckRegular checks folders and files with a symbolic link above them, at them, in them and beside them.
func TestCheckRegular(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ link, check, want string }{
		"above the workspace":        {"", "runs/main/evaluation/test", ""},
		"the first folder":           {"runs", "runs/main/evaluation/test", "runs"},
		"a folder on the way":        {"runs/main", "runs/main/evaluation/test", "runs/main"},
		"the folder":                 {"runs/main/evaluation/test", "runs/main/evaluation/test", "runs/main/evaluation/test"},
		"a folder in it":             {"runs/main/evaluation/test/deep", "runs/main/evaluation/test", "runs/main/evaluation/test/deep"},
		"a file in it":               {"runs/main/evaluation/test/deep/file", "runs/main/evaluation/test", "runs/main/evaluation/test/deep/file"},
		"the file itself":            {"runs/main/evaluation/test/deep/file", "runs/main/evaluation/test/deep/file", "runs/main/evaluation/test/deep/file"},
		"beside it":                  {"graph", "runs/main/evaluation/test", ""},
		"another run":                {"runs/other", "runs/main/evaluation/test", ""},
		"a folder yet to be made":    {"graph", "distances/test", ""},
		"below a folder that is one": {"graph", "graph/new/folder", "graph"},
		"below a file":               {"graph", "runs/main/evaluation/test/deep/file/x", ""},
	} {
		for _, scheme := range []string{"", "file://"} {
			outer := t.TempDir()
			root := filepath.Join(outer, "w")
			for _, file := range []string{"runs/main/evaluation/test/deep/file", "runs/other/file", "graph/file"} {
				write(t, filepath.Join(root, file), "x")
			}
			moved := filepath.Join(outer, "moved")
			if err := os.Rename(filepath.Join(root, c.link), moved); err != nil {
				t.Fatal(err)
			}
			link(t, moved, filepath.Join(root, c.link))
			err := storage.CheckRegular(t.Context(), scheme+root, scheme+filepath.Join(root, c.check))
			if (err == nil) != (c.want == "") || err != nil &&
				!strings.HasPrefix(err.Error(), "writing "+scheme+filepath.Join(root, c.want)+": it is a symbolic link") {
				t.Errorf("%s: error %v, want one about %q", name, err, c.want)
			}
		}
	}
	if err := storage.CheckRegular(t.Context(), "mem://w", "mem://w/graph"); err != nil {
		t.Errorf("in memory: %v", err)
	}
}

// TestLinkToNothing writes below a symbolic link that leads nowhere, such as to a disk that is not mounted.
func TestLinkToNothing(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "w")
	link(t, "nowhere", root)
	_, swap := storage.CompareAndSwap(t.Context(), filepath.Join(root, "lock"), nil, []byte("x"))
	for what, err := range map[string]error{"CompareAndSwap": swap, "WriteFile": storage.WriteFile(t.Context(), filepath.Join(root, "f"), nil)} {
		if err == nil || !strings.Contains(err.Error(), "leads to a folder that does not exist: make that folder") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// localSystem is a file system of another scheme with folders of its own.
type localSystem struct {
	storage.FileSystem
	storage.Local
	called *[]string
}

func (l localSystem) List(context.Context, string) ([]string, error) { return nil, nil }

func (l localSystem) OpenStream(path string) (io.ReadCloser, error) {
	*l.called = append(*l.called, "OpenStream "+path)
	return io.NopCloser(strings.NewReader("")), nil
}

func (l localSystem) CheckRegular(_ context.Context, root, path string) error {
	*l.called = append(*l.called, "CheckRegular "+root+" "+path)
	return nil
}

func (l localSystem) OnDisk(path string) bool { return path == "w/a" }

func (l localSystem) RemoveEmpty(path string) { *l.called = append(*l.called, "RemoveEmpty "+path) }

func (l localSystem) RemoveEmptyBelow(path string) {
	*l.called = append(*l.called, "RemoveEmptyBelow "+path)
}

var called []string

func init() { storage.Register("test", localSystem{called: &called}) }

// TestLocal checks that a registered file system with folders of its own answers for them.
func TestLocal(t *testing.T) {
	ctx := t.Context()
	called = nil
	if err := storage.Clear(ctx, "test://w/a", ""); err != nil {
		t.Error(err)
	}
	storage.RemoveEmpty(ctx, "test://w/a")
	if err := storage.CheckRegular(ctx, "test://w", "test://w/a"); err != nil {
		t.Error(err)
	}
	if _, err := storage.OpenStream(ctx, "test://w/a"); err != nil {
		t.Error(err)
	}
	if !storage.OnDisk(ctx, "test://w/a") || storage.OnDisk(ctx, "test://w/b") || storage.OnDisk(ctx, "mem://w/a") || storage.OnDisk(ctx, "/proc") {
		t.Error("another folder is on a disk")
	}
	if want := []string{"RemoveEmptyBelow w/a", "RemoveEmpty w/a", "CheckRegular w w/a", "OpenStream w/a"}; !slices.Equal(called, want) {
		t.Errorf("called %q, want %q", called, want)
	}
}
