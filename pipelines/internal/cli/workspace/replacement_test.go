package workspace

import (
	"context"
	"errors"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/manifest"
)

// TestReplacedInput replaces an input while a folder is made from it.
func TestReplacedInput(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		ctx, w := context.Background(), New(storagetest.Memory(t))
		makeOutput(t, newOutput(w, "first", 6, nil), "one")
		second := newOutput(w, "second", 6, inputsOf(t, w, "first"))
		second.OutlivesInputs = lasting
		if _, err := second.Begin(ctx, false); err != nil {
			t.Fatal(err)
		}
		failed := errors.New("index out of range")
		if err := second.Explain(ctx, failed); err != failed {
			t.Errorf("while the input is there: %v", err)
		}
		makeOutput(t, newOutput(w, "first", 6, nil), "another")
		if err := second.Explain(ctx, failed); errors.As(err, new(*manifest.Replaced)) == lasting {
			t.Errorf("the error of a step: %v", err)
		}
		err := second.Publish(ctx, nil)
		if lasting && err != nil {
			t.Error(err)
		}
		if !lasting {
			wantError(t, err, "first was replaced while", "second was made from it: run again")
			if w.Complete(ctx, "second") {
				t.Error("it is complete")
			}
		}
	}
}

// exchanged returns the output of a folder that stays usable while it is overwritten.
func exchanged(w Workspace, layers int) *Output {
	s := newOutput(w, "first", layers, nil)
	s.Exchanged = true
	return s
}

// begin begins to overwrite a folder and writes a file.
func begin(t *testing.T, s *Output, text string) {
	t.Helper()
	if done, err := s.Begin(t.Context(), true); done || err != nil {
		t.Fatalf("done %v, %v", done, err)
	}
	if err := storage.WriteFile(t.Context(), storage.Join(s.URL(), "deep", "file"), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// wantFolder fails unless the folder first is complete with a file, and nothing else is left.
func wantFolder(t *testing.T, w Workspace, text string) {
	t.Helper()
	if _, err := w.Require(t.Context(), "first", w.Command("first")); err != nil {
		t.Error(err)
	}
	got, err := storage.ReadFile(t.Context(), w.Path("first", "deep", "file"))
	if err != nil || string(got) != text {
		t.Errorf("%q, %v, want %q", got, err, text)
	}
	wantFiles(t, w, "file", "manifest.json")
	if urls, err := storage.List(t.Context(), w.Path("first.new")); err != nil || len(urls) > 0 {
		t.Errorf("left %q, %v", urls, err)
	}
}

// TestExchanged overwrites a folder: where the storage can, it stays usable until the new one is complete, and
// elsewhere a reader is told what is under way.
func TestExchanged(t *testing.T) {
	for name, root := range roots(t) {
		t.Run(name, func(t *testing.T) {
			w := New(root)
			begin(t, exchanged(w, 5), "killed") // as by a run that was killed
			s := exchanged(w, 6)
			begin(t, s, "one")
			if err := s.Publish(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			wantFolder(t, w, "one")

			s = exchanged(w, 7)
			begin(t, s, "two")
			_, err := w.Require(t.Context(), "first", w.Command("first"))
			if local, failed := storage.CanExchange(t.Context(), w.Path("first")); failed != nil || local != (err == nil) || local != (name == "local") {
				t.Errorf("beside the writer: %v, %v", err, failed)
			}
			if err != nil {
				wantError(t, err, "first is being written by process", "take over with --force of that command")
			}
			s.Abandon(false)
			if err == nil {
				wantFolder(t, w, "one")
			}

			begin(t, exchanged(w, 7), "killed")
			s = exchanged(w, 8)
			begin(t, s, "three")
			if err := s.Publish(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			wantFolder(t, w, "three")
		})
	}
}

// TestExchangeKeepsWhatOthersWrote has files of somebody else where the new folder would be made.
func TestExchangeKeepsWhatOthersWrote(t *testing.T) {
	w := New(t.TempDir())
	makeOutput(t, newOutput(w, "first", 6, nil), "one")
	if err := storage.WriteFile(t.Context(), w.Path("first.new", "notes"), []byte("mine")); err != nil {
		t.Fatal(err)
	}
	_, err := exchanged(w, 7).Begin(t.Context(), true)
	wantError(t, err, "first.new holds files that no pipeline wrote", "notes")
	if there, err := storage.Exists(t.Context(), w.Path("first.new", "notes")); !there || err != nil {
		t.Errorf("the notes are gone: %v", err)
	}
	if _, err := w.Require(t.Context(), "first", Command{}); err != nil {
		t.Error(err)
	}
}

// TestPausedWriter pauses a second writer before it takes the lock, while a first one makes the folder. It decides by
// what is there when it has the lock.
func TestPausedWriter(t *testing.T) {
	for name, root := range roots(t) {
		for _, force := range []bool{false, true} {
			t.Run(map[bool]string{false: name, true: name + " force"}[force], func(t *testing.T) {
				w := New(storage.Join(root, map[bool]string{false: "plain", true: "force"}[force]))
				second := exchanged(w, 7)
				second.Ready = func(context.Context) error {
					first := exchanged(w, 6)
					begin(t, first, "one")
					return first.Publish(t.Context(), nil)
				}
				done, err := second.Begin(t.Context(), force)
				if done {
					t.Error("another folder is taken for its own")
				}
				if !force {
					wantError(t, err, "layers is 6 there, 7 here")
					if _, err := w.Require(t.Context(), "first", Command{}); err != nil {
						t.Error(err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.Require(t.Context(), "first", Command{}); (err == nil) != (name == "local") {
					t.Errorf("beside the second writer: %v", err)
				}
				if err := storage.WriteFile(t.Context(), storage.Join(second.URL(), "deep", "file"), []byte("two")); err != nil {
					t.Fatal(err)
				}
				if err := second.Publish(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				wantFolder(t, w, "two")
			})
		}
	}
}

// TestExchangeAfterATakeover takes the lock over at the last moment before the first writer exchanges the folders.
func TestExchangeAfterATakeover(t *testing.T) {
	w := New(t.TempDir())
	makeOutput(t, newOutput(w, "first", 6, nil), "one")
	first, second := exchanged(w, 7), exchanged(w, 8)
	begin(t, first, "two")
	begin(t, second, "three")
	if err := first.exchange(t.Context()); !errors.As(err, new(*lock.Lost)) {
		t.Errorf("error %v, want that of a lost lock", err)
	}
	first.Pause()
	if _, err := w.Require(t.Context(), "first", Command{}); err != nil {
		t.Error(err)
	}
	if err := second.Publish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantFolder(t, w, "three")
}

// TestVerifyWhileReplaced replaces a folder after its manifest was read.
func TestVerifyWhileReplaced(t *testing.T) {
	for name, root := range roots(t) {
		t.Run(name, func(t *testing.T) {
			w := New(root)
			makeOutput(t, newOutput(w, "first", 6, nil), "one")
			m, err := manifest.Read(t.Context(), w.Path("first"))
			if err != nil {
				t.Fatal(err)
			}
			s := exchanged(w, 7)
			begin(t, s, "two")
			if err := s.Publish(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			err = manifest.Verify(t.Context(), w.Path("first"), m)
			if !errors.As(err, new(*manifest.Replaced)) {
				t.Errorf("error %v, want that it is being replaced", err)
			}
			wantError(t, err, "first is being replaced: run again")
		})
	}
}
