package workspace

import (
	"context"
	"testing"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

// TestReplacedInput replaces an input while a folder is made from it.
func TestReplacedInput(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		ctx, w := context.Background(), New(storagetest.Memory(t))
		makeStage(t, stage(w, "first", 6, nil), "one")
		inputs, err := w.Inputs(ctx, "first")
		if err != nil {
			t.Fatal(err)
		}
		second := stage(w, "second", 6, inputs)
		second.Lasting = lasting
		if _, err := second.Begin(ctx, false); err != nil {
			t.Fatal(err)
		}
		makeStage(t, stage(w, "first", 6, nil), "another")
		err = second.Publish(ctx, nil)
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

// TestReplacement replaces a folder, also after a run that was killed while files were copied.
func TestReplacement(t *testing.T) {
	for _, root := range []string{t.TempDir(), storagetest.Memory(t)} {
		t.Run(root[:3], func(t *testing.T) {
			ctx, w := context.Background(), New(root)
			old := stage(w, "first", 6, nil)
			makeStage(t, old, "one")
			m, err := w.Require(ctx, "first", Command{})
			if err != nil {
				t.Fatal(err)
			}
			begin := func() *Replacement {
				t.Helper()
				r := &Replacement{Old: *stage(w, "first", 6, nil), New: *stage(w, ReplacementFolder("first"), 7, nil)}
				r.New.Earlier = []manifest.Earlier{{Graph: m.Checksum}}
				if made, err := r.Begin(ctx, false); made || err != nil {
					t.Fatal(made, err)
				}
				if err := storage.WriteFile(ctx, w.Path("first.new", "deep", "file"), []byte("two")); err != nil {
					t.Fatal(err)
				}
				return r
			}
			r := begin()
			if _, err := w.Require(ctx, "first", Command{}); err != nil {
				t.Errorf("before it is complete: %v", err)
			}
			r.Abandon(false)
			if urls, err := storage.List(ctx, w.Path("first.new")); err != nil || len(urls) > 0 {
				t.Errorf("left %q, %v", urls, err)
			}

			r = begin()
			if err := r.New.Publish(ctx, nil); err != nil {
				t.Fatal(err)
			}
			r.release()
			if err := storage.Remove(ctx, w.Path("first", manifest.FileName)); err != nil { // the first step of a copy
				t.Fatal(err)
			}
			_, err = w.Require(ctx, "first", Command{})
			wantError(t, err, "first is half replaced by that of go run ./pipelines/preprocess --workspace "+root+" --append FILE, which was killed")
			if err := r.Finish(ctx, false); err != nil {
				t.Fatal(err)
			}
			got, err := w.Require(ctx, "first", Command{})
			if err != nil || len(got.Earlier) != 1 || string(got.Configuration) != `{"layers":7,"files":{"train":"x"}}` || w.Interrupted(ctx, "first") {
				t.Errorf("%+v, %v", got, err)
			}
			if urls, err := storage.List(ctx, w.Path("first.new")); err != nil || len(urls) > 0 {
				t.Errorf("left %q, %v", urls, err)
			}
		})
	}
}
