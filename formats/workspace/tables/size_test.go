package tables

import (
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"tagnet/formats/hop"
)

// TestLongRowsAreSplit writes names that together exceed the limit of a batch.
func TestLongRowsAreSplit(t *testing.T) {
	url := "mem://" + t.Name() + "/names.arrow"
	var names []string
	for i := range 5 {
		names = append(names, strings.Repeat(string(rune('a'+i)), bytesPerBatch/2))
	}
	if err := writeNames(t.Context(), url, names); err != nil {
		t.Fatal(err)
	}
	r, err := openTable(t.Context(), url, func(got *arrow.Schema) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if len(r.frame.blocks) != 3 {
		t.Errorf("%d batches, want 3", len(r.frame.blocks))
	}
	if got, err := ReadNames(t.Context(), url, Entities); err != nil || !reflect.DeepEqual(got, names) {
		t.Errorf("read %d names, or other names; error %v", len(got), err)
	}
}

// BenchmarkReadEdges reads as many edges as FB15k-237 has, with its inverse edges.
func BenchmarkReadEdges(b *testing.B) {
	url := "mem://benchmark/edges.arrow"
	var e Edges
	for i := range int32(544_230) {
		e.Tails = append(e.Tails, i/37)
		e.Heads = append(e.Heads, i%37*390)
		e.Relations = append(e.Relations, i%474)
	}
	if err := writeEdges(b.Context(), url, e); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ReadEdges(b.Context(), url); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadDistances unpacks every row of a table of WN18RR's size, in order.
func BenchmarkReadDistances(b *testing.B) {
	const entities = 40_943
	url := "mem://benchmark/distances.arrow"
	w, err := CreateDistances(b.Context(), url, entities, 6)
	if err != nil {
		b.Fatal(err)
	}
	distances := make([]uint8, entities)
	for source := range int32(1000) {
		for o := range distances {
			distances[o] = hop.Unreached
			if (int(source)+o*o)%31 == 0 {
				distances[o] = uint8(o % 7)
			}
		}
		if err := w.WriteRow(DistanceRow{source, Pack(distances)}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := EachDistances(b.Context(), url, func(row DistanceRow) error {
			Unpack(row.Packed, distances)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
