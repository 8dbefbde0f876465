package workspace

import (
	"context"
	"testing"

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
