package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// TestElements decodes what was encoded, and what was cut short.
func TestElements(t *testing.T) {
	t.Parallel()
	s := &search{
		file: 3, files: 7, source: 5, numbers: []int64{1 << 40, 1<<40 + 9}, relations: []int32{2, 2}, answers: []int32{9, 4}, entities: []int32{1, 5, 1 << 30},
		known: map[int32]parts.SenderList{5: {Degree: 3, Senders: []int32{1, 1, 7}}, 8: {Degree: 1 << 30}},
	}
	r := &request{search: 1 << 40, file: 3, Query: graph.Query{Source: 5, Relation: 2, Answer: 9, Removal: graph.RemoveFact},
		requested: []parts.ListRequest{{Entity: 8, Edges: 1 << 30, Senders: 4}}, relations: []int32{2}}
	p := piece{search: 1 << 40, block: 2, known: []int32{1, 4}, knownCounts: []int32{2}}
	p.Offsets, p.Senders, p.Relations, p.Degrees = []int64{0, 2, 2}, []int32{4, 0}, []int32{1, 0}, []int32{7, 0}
	if pieceOf(p.encode()) != p.search {
		t.Error("the search of a piece is another")
	}
	for name, test := range map[string]struct {
		want    any
		element []byte
		decode  func([]byte) (any, error)
	}{
		"search":  {s, s.encode(), func(b []byte) (any, error) { return decodeSearch(b) }},
		"request": {r, r.encode(), func(b []byte) (any, error) { return decodeRequest(b) }},
		"piece":   {p, p.encode(), func(b []byte) (any, error) { return decodePiece(b) }},
	} {
		got, err := test.decode(test.element)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(search{}, request{}, piece{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for n := range test.element {
			if _, err := test.decode(test.element[:n]); err == nil {
				t.Errorf("%s: an element cut at byte %d of %d was decoded", name, n, len(test.element))
			}
		}
	}
}
