package tables

import (
	"testing"

	"tagnet/formats/storage"
)

// TestEdgeReaderReadsBatches checks that the batches together are the table, and that Find returns
// the first one with an edge to an entity or to one with a larger id.
func TestEdgeReaderReadsBatches(t *testing.T) {
	ctx := t.Context()
	want := sampleEdges(3*rowsPerBatch + 5) // four edges to each entity
	url := "mem://" + t.Name() + "/edges.arrow"
	if err := writeEdges(ctx, url, want); err != nil {
		t.Fatal(err)
	}
	r, err := OpenEdges(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Batches() != 4 {
		t.Fatalf("%d batches", r.Batches())
	}
	at := 0
	for i := range r.Batches() {
		e, err := r.Batch(i)
		if err != nil {
			t.Fatal(err)
		}
		for k := range e.Tails {
			if e.Tails[k] != want.Tails[at] || e.Heads[k] != want.Heads[at] || e.Relations[k] != want.Relations[at] {
				t.Fatalf("edge %d of batch %d is not edge %d", k, i, at)
			}
			at++
		}
	}
	if at != want.Len() {
		t.Errorf("%d edges of %d", at, want.Len())
	}
	last := want.Tails[want.Len()-1]
	for _, tail := range []int32{0, 1, rowsPerBatch/4 - 1, rowsPerBatch / 4, rowsPerBatch/4 + 1, last, last + 1} {
		got, err := r.Find(tail)
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for first < want.Len() && want.Tails[first] < tail {
			first++
		}
		if batch := (first + rowsPerBatch - 1) / rowsPerBatch; got != first/rowsPerBatch && got != batch {
			t.Errorf("entity %d: batch %d, its first edge is %d", tail, got, first)
		}
	}
}

// TestEdgeReaderOfDamage damages the second batch: the first can still be read.
func TestEdgeReaderOfDamage(t *testing.T) {
	ctx := t.Context()
	url := "mem://" + t.Name() + "/edges.arrow"
	if err := writeEdges(ctx, url, sampleEdges(2*rowsPerBatch)); err != nil {
		t.Fatal(err)
	}
	r, err := OpenEdges(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	b := r.table.frame.blocks[1]
	data, err := storage.ReadFile(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	data[b.offset+b.length/2] ^= 1
	if err := storage.WriteFile(ctx, url, data); err != nil {
		t.Fatal(err)
	}
	if r, err = OpenEdges(ctx, url); err != nil {
		t.Fatal(err)
	}
	for i, wantError := range []bool{false, true} {
		if _, err := r.Batch(i); (err != nil) != wantError {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	if err := WriteQueries(ctx, url, sampleQueries(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenEdges(ctx, url); err == nil {
		t.Error("queries are opened as edges")
	}
}
