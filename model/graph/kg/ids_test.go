package kg

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage/externalsort"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
)

// someNames returns names with shared prefixes; some are prefixes of others, some are there twice.
func someNames(random *rand.Rand, n int) []string {
	names := []string{"a", "", "http://example.org/", strings.Repeat("x", 300)}
	for range n {
		names = append(names, strings.Repeat("http://example.org/", random.IntN(2))+fmt.Sprint(random.IntN(n)))
	}
	return append(names, names[:n/2]...)
}

// TestSetHoldsDistinctNamesInOrder also refills the set after it was written.
func TestSetHoldsDistinctNamesInOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	s := NewNameSet()
	for round, n := range []int{0, 10, 5000, 3} {
		names := someNames(random, n)
		if round == 3 { // all share a prefix
			names = []string{"entity/12345678/b", "entity/12345678/a", "entity/12345678", "entity/12345678/a"}
		}
		for _, name := range names {
			s.Add([]byte(name))
		}
		want := slices.Compact(slices.Sorted(slices.Values(names)))
		if s.names != len(want) {
			t.Errorf("%d names, want %d", s.names, len(want))
		}
		spill, err := s.Write(t.Context(), "mem://"+t.Name()+"/names")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := externalsort.Merge(t.Context(), externalsort.Names, []externalsort.Spill{spill}, "",
			func(name []byte, _ int) error { got = append(got, string(name)); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: %d names, not the sorted distinct ones", round, len(got))
		}
	}
}

// TestSetIsFull compares the memory of a set, and of sorting it, with the limit at which full returns true.
func TestSetIsFull(t *testing.T) {
	const most = 16 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := NewNameSet()
	name := []byte("entity/00000000")
	for i := 0; !s.Full(most); i++ {
		s.Add(fmt.Appendf(name[:7], "%08d", i))
	}
	entries := s.sorted()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > most || held < most/4 {
		t.Errorf("full with %d bytes, of %d", held, most)
	}
	runtime.KeepAlive(entries)
	runtime.KeepAlive(s)
}

// written writes a file of names and returns their hash.
func written(t testing.TB, url string, names []string) (version string) {
	t.Helper()
	table, err := tables.CreateNames(t.Context(), url, tables.Entities)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Abort()
	sum := manifest.NewVocabulary()
	for _, name := range names {
		sum.Add([]byte(name))
		if err := table.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Commit(); err != nil {
		t.Fatal(err)
	}
	return sum.Hex()
}

func TestIDsArePositions(t *testing.T) {
	names := slices.Compact(slices.Sorted(slices.Values(someNames(rand.New(rand.NewPCG(1, 2)), 20_000))))
	url := "mem://" + t.Name()
	ids, err := ReadIDs(t.Context(), url, tables.Entities, int64(len(names)), written(t, url, names))
	if err != nil || ids.Len() != len(names) {
		t.Fatal(err)
	}
	for want, name := range names {
		if id, ok := ids.Of([]byte(name)); !ok || int(id) != want {
			t.Fatalf("%q is %d %v, want %d", name, id, ok, want)
		}
	}
	for i := range 20_000 {
		if id, ok := ids.Of(fmt.Appendf(nil, "unknown %d", i)); ok {
			t.Errorf("unknown %d is %d", i, id)
		}
	}
	held := int64(len(ids.slots)) * 16
	if bound := budget.Preprocess(int64(len(names))).Held; held > bound+64 {
		t.Errorf("%d bytes are held, the estimate is %d", held, bound)
	}
}

// TestNamesOfEqualHashes checks that equal hashes are an error, after which Read takes another seed.
func TestNamesOfEqualHashes(t *testing.T) {
	t.Parallel()
	v := newMap(3)
	if err := v.add([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := v.add([]byte("a")); !errors.Is(err, errCollision) {
		t.Errorf("error %v", err)
	}
}

// TestOtherNamesAreNoticed overwrites the file with other names.
func TestOtherNamesAreNoticed(t *testing.T) {
	url := "mem://" + t.Name()
	version := written(t, url, []string{"a", "b"})
	for _, names := range [][]string{{"a", "c"}, {"a"}, {"a", "b", "c"}} {
		written(t, url, names)
		if _, err := ReadIDs(t.Context(), url, tables.Entities, 2, version); err == nil || !strings.Contains(err.Error(), "another run") {
			t.Errorf("%q: error %v", names, err)
		}
	}
}

func TestTooManyNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		schema string
		names  int64
		wrong  bool
	}{
		{tables.Entities, MaxEntities, false}, {tables.Entities, MaxEntities + 1, true},
		{tables.Relations, MaxRelations, false}, {tables.Relations, MaxRelations + 1, true},
	} {
		if err := CheckNames(test.schema, "url", test.names); (err != nil) != test.wrong {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	names := make([]string, 1_000_000)
	for i := range names {
		names[i] = fmt.Sprintf("e%07d", i)
	}
	v := newMap(int64(len(names)))
	for _, name := range names {
		if err := v.add([]byte(name)); err != nil {
			b.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	queries := make([][]byte, 1<<16)
	for i := range queries {
		queries[i] = []byte(names[random.IntN(len(names))])
	}
	for i := 0; b.Loop(); i++ {
		v.Of(queries[i&(1<<16-1)])
	}
}
