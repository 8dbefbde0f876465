package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
)

// TestPublishMissesOutputs checks that a folder is not published without the files that its pipeline
// names, or without a shard of any file.
func TestPublishMissesOutputs(t *testing.T) {
	for _, test := range []struct {
		name           string
		written, wants []string
		missing        string
	}{
		{"all", []string{"a.json", "b/part-00000-of-00001.parquet"}, []string{"a.json", "b/"}, ""},
		{"nothing", nil, []string{"a.json"}, "a.json"},
		{"a file", []string{"a.json"}, []string{"a.json", "b.json"}, "b.json"},
		{"a folder", []string{"a.json", "bc/d"}, []string{"b/"}, "b/"},
		{"the last shard", []string{"b/part-00000-of-00003", "b/part-00000-of-00003.arrow", "b/part-00001-of-00003.arrow"}, nil, "b/part-00002-of-00003.arrow"},
		{"the first shard", []string{"x-01-of-02.arrow"}, nil, "x-00-of-02.arrow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newOutput(New(t.TempDir()), "first", 6, nil)
			s.Outputs = test.wants
			if _, err := s.Begin(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			for _, name := range test.written {
				if err := storage.WriteFile(t.Context(), s.Workspace.Path(s.Folder, name), []byte("x")); err != nil {
					t.Fatal(err)
				}
			}
			err := s.Publish(t.Context(), nil)
			_, unread := manifest.Read(t.Context(), s.folderURL())
			if test.missing == "" {
				if err != nil || unread != nil {
					t.Errorf("%v, %v; want a manifest", err, unread)
				}
				return
			}
			missing := new(Missing)
			if !errors.As(err, &missing) || missing.File != test.missing {
				t.Errorf("error %v, want %s to be missing", err, test.missing)
			}
			if !errors.Is(unread, fs.ErrNotExist) {
				t.Errorf("reading the manifest: %v, want none", unread)
			}
		})
	}
}

// TestReadyComesFirst checks that an error of Ready leaves the folder as it was, without a lock.
func TestReadyComesFirst(t *testing.T) {
	w := New(t.TempDir())
	s := newOutput(w, "first", 6, nil)
	makeOutput(t, s, "one")
	refused := errors.New("no slots")
	calls := 0
	s.Ready = func(ctx context.Context) error { calls++; return refused }
	if done, err := s.Begin(t.Context(), false); !done || err != nil || calls > 0 {
		t.Errorf("a complete folder: done %v, %v, Ready called %d times", done, err, calls)
	}
	for name, begin := range map[string]func() error{
		"Begin":  func() error { _, err := s.Begin(t.Context(), true); return err },
		"Resume": func() error { return s.Resume(t.Context(), true) },
	} {
		if err := begin(); err != refused {
			t.Errorf("%s: error %v, want that of Ready", name, err)
		}
		if _, err := w.Require(t.Context(), "first", Command{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if entries, err := os.ReadDir(w.Path("first")); err != nil || len(entries) != 2 {
			t.Errorf("%s leaves %v, %v; want the file and the manifest", name, entries, err)
		}
	}
}
