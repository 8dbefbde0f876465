package bundle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/tables"
	"tagnet/model/search"
)

// someQueries has sources and relations that repeat, in no order.
func someQueries(n int) []Query {
	rng := rand.New(rand.NewPCG(1, 2))
	queries := make([]Query, n)
	for i := range queries {
		queries[i] = Query{Number: int64(i), Source: int32(rng.IntN(40)), Relation: int32(rng.IntN(4)), Answer: int32(rng.IntN(100))}
	}
	return queries
}

func TestUnitsHoldEveryQueryOnce(t *testing.T) {
	queries := someQueries(500)
	units := Units(slices.Clone(queries))
	var got []Query
	for i, u := range units {
		if i > 0 && !(units[i-1].Source < u.Source || units[i-1].Source == u.Source && units[i-1].Relation < u.Relation) {
			t.Errorf("unit %d is out of order or stands twice", i)
		}
		for j, q := range u.Queries {
			if q.Source != u.Source || q.Relation != u.Relation || j > 0 && u.Queries[j-1].Number >= q.Number {
				t.Errorf("unit (%d, %d) holds %+v at %d", u.Source, u.Relation, q, j)
			}
		}
		got = append(got, u.Queries...)
	}
	slices.SortFunc(got, func(a, b Query) int { return int(a.Number - b.Number) })
	if diff := cmp.Diff(queries, got); diff != "" {
		t.Error(diff)
	}
}

func TestCut(t *testing.T) {
	const entities = 100
	units := Units(someQueries(500))
	rng := rand.New(rand.NewPCG(3, 4))
	var total int64
	for i := range units {
		units[i].Cost = 1 + rng.Int64N(1000)
		units[i].Known = rng.IntN(20)
		total += units[i].Cost
	}
	for _, count := range []int{1, 2, 7, 50, 1000} {
		for _, memory := range []int64{1, 2000, 1 << 40} {
			t.Run(fmt.Sprintf("%d/%d", count, memory), func(t *testing.T) {
				ranges := Cut(units, entities, count, memory)
				at := 0
				for _, r := range ranges {
					if r[0] != at || r[1] <= r[0] {
						t.Fatalf("range %v after %d", r, at)
					}
					at = r[1]
					if size := sizeOf(units[r[0]:r[1]], entities); size > memory && r[1]-r[0] > 1 {
						t.Errorf("range %v takes %d bytes of %d", r, size, memory)
					}
				}
				if at != len(units) {
					t.Fatalf("ranges end at %d of %d units", at, len(units))
				}
				if memory < 1<<40 {
					return
				}
				if count <= len(units)/4 && len(ranges) != count {
					t.Errorf("%d ranges, want %d", len(ranges), count)
				}
				for _, r := range ranges {
					var cost int64
					for _, u := range units[r[0]:r[1]] {
						cost += u.Cost
					}
					if share := total / int64(count); cost > share+1000 {
						t.Errorf("range %v costs %d where a share is %d", r, cost, share)
					}
				}
			})
		}
	}
	if ranges := Cut(nil, entities, 3, 100); len(ranges) != 0 {
		t.Errorf("nothing is cut into %v", ranges)
	}
}

// sizeOf is Cut's formula, written again.
func sizeOf(units []Unit, entities int) int64 {
	sources := map[int32]bool{}
	var size int64
	for _, u := range units {
		sources[u.Source] = true
		size += 64 + 12*int64(len(u.Queries)) + 4*int64(u.Known)
	}
	return size + int64(len(sources))*(int64(entities+1)/2+64)
}

func TestRow(t *testing.T) {
	for _, entities := range []int{1, 2, 3, 100, 40943} {
		distances := make([]uint8, entities)
		for i := range distances {
			distances[i] = uint8(i * i % 7)
			if i%5 != 0 {
				distances[i] = search.Unreached
			}
		}
		row, err := EncodeRow(tables.Pack(distances))
		if err != nil {
			t.Fatal(err)
		}
		reader, err := NewRowReader(entities)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint8, entities)
		if err := reader.Read(row, got); err != nil || !slices.Equal(got, distances) {
			t.Errorf("%d entities: read %v, %v", entities, got[:min(8, entities)], err)
		}
		if err := reader.Read(row, make([]uint8, entities+2)); err == nil {
			t.Errorf("%d entities: a row of other length is read", entities)
		}
		if err := reader.Read(row[:len(row)/2], got); err == nil {
			t.Errorf("%d entities: half a row is read", entities)
		}
	}
}

func TestEncodedBundleIsTheSame(t *testing.T) {
	want := &Bundle{Number: 7, Groups: []Group{
		{Source: 3, Distances: []byte{1, 2, 3}, Questions: []Question{
			{Relation: 0, Numbers: []int64{5, 9}, Answers: []int32{4, 2}, Known: []int32{2, 4, 6}},
			{Relation: 3, Numbers: []int64{0}, Answers: []int32{None}},
		}},
		{Source: 8, Distances: []byte{9}, Questions: []Question{{Relation: 1, Numbers: []int64{1 << 40}, Answers: []int32{0}, Known: []int32{0}}}},
	}}
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Queries() != 4 || got.Questions() != 3 {
		t.Errorf("%d queries in %d questions, want 4 in 3", got.Queries(), got.Questions())
	}
	for cut := range len(data) {
		if b, err := Decode(data[:cut]); err == nil && !cmp.Equal(b, want) {
			t.Fatalf("%d of %d bytes decode to something else", cut, len(data))
		}
	}
}

func TestCheck(t *testing.T) {
	ok := func() *Bundle {
		return &Bundle{Groups: []Group{{Source: 3, Questions: []Question{{Relation: 1, Numbers: []int64{0}, Answers: []int32{4}, Known: []int32{2, 4}}}}}}
	}
	if err := ok().Check(5, 2); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Bundle){
		"source":   func(b *Bundle) { b.Groups[0].Source = 5 },
		"negative": func(b *Bundle) { b.Groups[0].Source = -1 },
		"relation": func(b *Bundle) { b.Groups[0].Questions[0].Relation = 2 },
		"answer":   func(b *Bundle) { b.Groups[0].Questions[0].Answers[0] = 5 },
		"lengths":  func(b *Bundle) { b.Groups[0].Questions[0].Answers = nil },
		"known":    func(b *Bundle) { b.Groups[0].Questions[0].Known = []int32{2, 5} },
		"unsorted": func(b *Bundle) { b.Groups[0].Questions[0].Known = []int32{4, 2} },
	} {
		b := ok()
		spoil(b)
		if err := b.Check(5, 2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
