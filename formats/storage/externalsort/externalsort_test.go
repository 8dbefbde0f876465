package externalsort

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// randomRows returns rows with ids of all sizes, many of them equal.
func randomRows(random *rand.Rand, n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		for column := range rows[i] {
			rows[i][column] = int32(random.Int64N(math.MaxInt32+1) >> (random.IntN(5) * 7))
		}
		if i > 0 && random.IntN(4) == 0 {
			rows[i] = rows[random.IntN(i)]
		}
	}
	return rows
}

func TestSort(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 3, 100, 3000} {
		for range 5 {
			rows := randomRows(random, n)
			want := slices.Clone(rows)
			slices.SortFunc(want, Row.Compare)
			got, other := Sort(rows, make([]Row, n, n+3))
			if !slices.Equal(got, want) || len(other) != n {
				t.Errorf("%d rows: not sorted", n)
			}
		}
	}
	few := []Row{{5, 1, 2}, {5, 1, 1}} // one byte differs: one pass, so that the slices are swapped
	scratch := make([]Row, 2)
	if got, other := Sort(few, scratch); &got[0] != &scratch[0] || &other[0] != &few[0] || got[0] != (Row{5, 1, 1}) {
		t.Errorf("%v, %v", got, other)
	}
}

// write writes rows to a spill file.
func write(t testing.TB, url string, tag int, rows []Row) Spill {
	t.Helper()
	w, err := Create(t.Context(), url, Rows)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	spill := w.Cut()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	spill.Tag = tag
	return spill
}

type tagged struct {
	Row
	tag int
}

// TestMergeRows checks that any number of spills, some of them empty, give the sorted rows, equal
// ones in the order of their tags, also with more spills than fanIn.
func TestMergeRows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	for _, count := range []int{0, 1, 2, 7, fanIn, fanIn + 1, 3*fanIn + 5} {
		folder := fmt.Sprintf("mem://%s/%d", t.Name(), count)
		var want []tagged
		var all []Spill
		for i := range count {
			rows := randomRows(random, random.IntN(20))
			slices.SortFunc(rows, Row.Compare)
			tag := random.IntN(3)
			all = append(all, write(t, fmt.Sprintf("%s/%d", folder, i), tag, rows))
			for _, r := range rows {
				want = append(want, tagged{r, tag})
			}
			if i > 0 && len(rows) > 0 { // in another split as well
				all = append(all, write(t, fmt.Sprintf("%s/%d-again", folder, i), (tag+1)%3, rows[:1]))
				want = append(want, tagged{rows[0], (tag + 1) % 3})
			}
		}
		slices.SortFunc(want, func(a, b tagged) int {
			if c := a.Row.Compare(b.Row); c != 0 {
				return c
			}
			return a.tag - b.tag
		})
		var got []tagged
		err := Merge(t.Context(), Rows, all, folder+"/table", func(r Row, tag int) error {
			got = append(got, tagged{r, tag})
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d spills: %d rows, want %d equal ones; error %v", count, len(got), len(want), err)
		}
	}
}

// TestSpillsOfOneFile checks that each spill of a file is read by itself.
func TestSpillsOfOneFile(t *testing.T) {
	t.Parallel()
	url := "mem://" + t.Name() + "/rows"
	w, err := Create(t.Context(), url, Rows)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var all []Spill
	for i := range int32(4) {
		for j := range i {
			if err := w.Write(Row{i, j, 1}); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, w.Cut())
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for i, spill := range all {
		var got []Row
		if err := Merge(t.Context(), Rows, []Spill{spill}, url, func(r Row, _ int) error { got = append(got, r); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(got) != i || i > 0 && got[i-1] != (Row{int32(i), int32(i - 1), 1}) {
			t.Errorf("spill %d: %v", i, got)
		}
	}
}

// TestSorter sorts rows in a buffer for three of them.
func TestSorter(t *testing.T) {
	t.Parallel()
	folder := "mem://" + t.Name()
	s := NewSorter(3*2*RowBytes, func(file int) string { return fmt.Sprintf("%s/%d", folder, file) })
	defer s.Close()
	for _, r := range []Row{{5}, {2}, {2}, {9}, {2}, {2}, {1}, {7, 0, 1}} {
		if err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second one has nothing to write
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var got []Row
	err := Merge(t.Context(), Rows, s.Spills, folder+"/table", func(r Row, _ int) error { got = append(got, r); return nil })
	if want := []Row{{1}, {2}, {2}, {5}, {7, 0, 1}, {9}}; err != nil || len(s.Spills) != 3 || !slices.Equal(got, want) {
		t.Errorf("%d files of %v, error %v, want 3 of %v", len(s.Spills), got, err, want)
	}
	if RowsIn(1) != 2 || RowsIn(2400) != 100 {
		t.Errorf("%d and %d rows", RowsIn(1), RowsIn(2400))
	}
}

func TestMergeNames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for _, count := range []int{0, 1, 3, fanIn + 9} {
		folder := fmt.Sprintf("mem://%s/%d", t.Name(), count)
		var want []string
		var all []Spill
		for i := range count {
			var names []string
			for range random.IntN(9) {
				names = append(names, strings.Repeat("ab", random.IntN(4))+fmt.Sprint(random.IntN(300)))
			}
			if i == 0 {
				names = append(names, "", strings.Repeat("long", 1<<17))
			}
			slices.Sort(names)
			names = slices.Compact(names)
			want = append(want, names...)
			spill, err := Write(t.Context(), fmt.Sprintf("%s/%d", folder, i), Names, func(yield func([]byte) bool) {
				for _, name := range names {
					if !yield([]byte(name)) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, spill)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		var got []string
		err := Merge(t.Context(), Names, all, folder+"/table", func(name []byte, _ int) error { got = append(got, string(name)); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d spills: %d names, want %d equal ones; error %v", count, len(got), len(want), err)
		}
	}
}

// TestDamageIsNoticed changes each byte of a spill file, cuts it short, and removes it.
func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	url := "mem://" + t.Name() + "/spill"
	rows := write(t, url+"-rows", 0, []Row{{1, 2, 3}, {4, 5, 6}})
	w, err := Create(t.Context(), url+"-names", Names)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "ab", "b"} {
		if err := w.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	names := w.Cut()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	readRows := func(ctx context.Context) error {
		return Merge(ctx, Rows, []Spill{rows}, url, func(Row, int) error { return nil })
	}
	readNames := func(ctx context.Context) error {
		return Merge(ctx, Names, []Spill{names}, url, func([]byte, int) error { return nil })
	}
	for _, test := range []struct {
		url  string
		read func(context.Context) error
	}{{rows.URL, readRows}, {names.URL, readNames}} {
		whole, err := storage.ReadFile(t.Context(), test.url)
		if err != nil {
			t.Fatal(err)
		}
		if err := test.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			changed := slices.Clone(whole)
			changed[i] ^= 1
			for _, bytes := range [][]byte{changed, whole[:i]} {
				if err := storage.WriteFile(t.Context(), test.url, bytes); err != nil {
					t.Fatal(err)
				}
				if err := test.read(t.Context()); err == nil || !strings.Contains(err.Error(), test.url) {
					t.Errorf("byte %d of %s: error %v", i, test.url, err)
				}
			}
		}
		if err := storage.Remove(t.Context(), test.url); err != nil {
			t.Fatal(err)
		}
		if err := test.read(t.Context()); err == nil {
			t.Errorf("%s is removed, but there is no error", test.url)
		}
	}
}

// TestMergeStops checks that a merge ends when its context is canceled.
func TestMergeStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	spill := write(t, "mem://"+t.Name()+"/spill", 0, make([]Row, 200_000))
	merged := 0
	err := Merge(ctx, Rows, []Spill{spill}, "", func(Row, int) error { merged++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || merged > 1<<16 {
		t.Errorf("%d rows, error %v", merged, err)
	}
}

func TestBuffersAreReused(t *testing.T) {
	defer Forget()
	Forget()
	a := Buffer(10)
	if len(a) != 0 || cap(a) != 10 {
		t.Fatalf("capacity %d, length %d", cap(a), len(a))
	}
	a = append(a, Row{1})
	Return(a)
	b := Buffer(7)
	if len(b) != 0 || cap(b) != 7 || &b[:1][0] != &a[0] {
		t.Error("the buffer was not reused")
	}
	if c := Buffer(7); cap(c) != 7 || &c[:1][0] == &a[0] {
		t.Error("a buffer was returned twice")
	}
}

func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	rows := make([]Row, 1<<20)
	for i := range rows {
		rows[i] = Row{random.Int32N(5_000_000), random.Int32N(1000), random.Int32N(5_000_000)}
	}
	copied, scratch := make([]Row, len(rows)), make([]Row, len(rows))
	for b.Loop() {
		copy(copied, rows)
		Sort(copied, scratch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
}

func BenchmarkMergeRows(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var all []Spill
	const each = 1 << 15
	for i := range 32 {
		rows := make([]Row, each)
		for j := range rows {
			rows[j] = Row{random.Int32N(5_000_000), random.Int32N(1000), random.Int32N(5_000_000)}
		}
		sorted, _ := Sort(rows, make([]Row, each))
		all = append(all, write(b, fmt.Sprintf("mem://merge/%d", i), 0, sorted))
	}
	for b.Loop() {
		if err := Merge(b.Context(), Rows, all, "", func(Row, int) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(32*each), "ns/row")
}
