package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/formats/storage/storagetest"
)

// kind is one table with its writer and its reader, over sample rows.
type kind struct {
	name  string
	rows  func(n int) any
	write func(ctx context.Context, url string, rows any) error
	read  func(ctx context.Context, url string) (any, error)
}

var kinds = []kind{
	{"entities", func(n int) any { return sampleNames(n) },
		func(ctx context.Context, url string, rows any) error {
			return writeNames(ctx, url, rows.([]string))
		},
		func(ctx context.Context, url string) (any, error) { return ReadNames(ctx, url, Entities) }},
	{"edges", func(n int) any { return sampleEdges(n) },
		func(ctx context.Context, url string, rows any) error { return writeEdges(ctx, url, rows.(Edges)) },
		func(ctx context.Context, url string) (any, error) { return ReadEdges(ctx, url) }},
	{"queries", func(n int) any { return sampleQueries(n) },
		func(ctx context.Context, url string, rows any) error {
			return writeQueries(ctx, url, rows.([][3]int32))
		},
		func(ctx context.Context, url string) (any, error) { return readQueries(ctx, url) }},
	{"answers", func(n int) any { return sampleAnswers(n) },
		func(ctx context.Context, url string, rows any) error { return writeAnswers(ctx, url, rows.(Answers)) },
		func(ctx context.Context, url string) (any, error) { return ReadAnswers(ctx, url) }},
	{"distances", func(n int) any { return sampleDistances(n) },
		func(ctx context.Context, url string, rows any) error {
			return writeDistances(ctx, url, 2*len(rows.([]DistanceRow))+1, rows.([]DistanceRow))
		},
		func(ctx context.Context, url string) (any, error) { return readDistances(ctx, url) }},
	{"types", func(n int) any { return sampleTypes(n) },
		func(ctx context.Context, url string, rows any) error { return writeTypes(ctx, url, rows.([]Type)) },
		func(ctx context.Context, url string) (any, error) { return ReadTypes(ctx, url) }},
	{"parts", func(n int) any { return sampleParts(n) },
		func(ctx context.Context, url string, rows any) error { return writeParts(ctx, url, rows.([]Part)) },
		func(ctx context.Context, url string) (any, error) { return readParts(ctx, url) }},
}

func sampleNames(n int) []string {
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, fmt.Sprintf("ä name %d", i))
	}
	slices.Sort(names)
	return names
}

func writeNames(ctx context.Context, url string, names []string) error {
	w, err := CreateNames(ctx, url, Entities)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, name := range names {
		if err := w.Write([]byte(name)); err != nil {
			return err
		}
	}
	return w.Commit()
}

func writeEdges(ctx context.Context, url string, e Edges) error {
	w, err := CreateEdges(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i := range e.Tails {
		if err := w.Write(e.Tails[i], e.Relations[i], e.Heads[i]); err != nil {
			return err
		}
	}
	return w.Commit()
}

func writeAnswers(ctx context.Context, url string, a Answers) error {
	w, err := CreateAnswers(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i := range a.Sources {
		if err := w.Write(a.Sources[i], a.Relations[i], a.Lists[i]); err != nil {
			return err
		}
	}
	return w.Commit()
}

func writeTypes(ctx context.Context, url string, types []Type) error {
	w, err := CreateTypes(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, t := range types {
		for _, entity := range t.Entities {
			if err := w.Write(entity, t.Name); err != nil {
				return err
			}
		}
	}
	return w.Commit()
}

func sampleTypes(n int) []Type {
	var types []Type
	for i, name := range sampleNames((n + 1) / 2) {
		types = append(types, Type{name, []int32{int32(i), int32(i) + 3}})
	}
	if n%2 == 1 {
		types[n/2].Entities = types[n/2].Entities[:1]
	}
	return types
}

func sampleEdges(n int) Edges {
	e := Edges{make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)}
	for i := range int32(n) {
		e.Tails = append(e.Tails, i/4)
		e.Heads = append(e.Heads, i%4/2)
		e.Relations = append(e.Relations, i%2*7)
	}
	return e
}

func sampleQueries(n int) [][3]int32 {
	queries := make([][3]int32, 0, n)
	for i := range int32(n) {
		queries = append(queries, [3]int32{i, i % 5, i*3 - 1})
	}
	return queries
}

func writeQueries(ctx context.Context, url string, queries [][3]int32) error {
	w, err := CreateQueries(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, q := range queries {
		if err := w.Write(q[0], q[1], q[2]); err != nil {
			return err
		}
	}
	return w.Commit()
}

func readQueries(ctx context.Context, url string) ([][3]int32, error) {
	queries := [][3]int32{}
	err := EachQuery(ctx, url, func(source, relation, answer int32) error {
		queries = append(queries, [3]int32{source, relation, answer})
		return nil
	})
	return queries, err
}

func sampleAnswers(n int) Answers {
	a := Answers{make([]int32, 0, n), make([]int32, 0, n), make([][]int32, 0, n)}
	for i := range int32(n) {
		a.Sources, a.Relations = append(a.Sources, i/2), append(a.Relations, i%2)
		list := make([]int32, 0, i%4)
		for j := range i % 4 {
			list = append(list, i+j)
		}
		a.Lists = append(a.Lists, list)
	}
	return a
}

// sampleDistances has rows of every second of 2n+1 entities; large n keeps them few.
func sampleDistances(n int) []DistanceRow {
	entities := 2*n + 1
	rows := make([]DistanceRow, 0, n)
	for i := range n {
		distances := make([]uint8, entities)
		for o := range distances {
			distances[o] = uint8((i*31 + o*17) % 8)
			if distances[o] == 7 {
				distances[o] = hop.Unreached
			}
		}
		rows = append(rows, DistanceRow{int32(2 * i), Pack(distances)})
	}
	return rows
}

func writeDistances(ctx context.Context, url string, entities int, rows []DistanceRow) error {
	w, err := CreateDistances(ctx, url, entities, 6)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, row := range rows {
		if err := w.WriteRow(row); err != nil {
			return err
		}
	}
	return w.Commit()
}

func readDistances(ctx context.Context, url string) ([]DistanceRow, error) {
	rows := []DistanceRow{}
	err := EachDistances(ctx, url, func(row DistanceRow) error { rows = append(rows, row); return nil })
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func TestRoundTrips(t *testing.T) {
	for _, k := range kinds {
		sizes := []int{0, 1, 3, rowsPerBatch, rowsPerBatch + 1}
		if k.name == "distances" {
			sizes = []int{0, 1, 3, 2500} // 2,500 rows of 2,501 bytes are six batches
		}
		for _, n := range sizes {
			url := fmt.Sprintf("mem://%s/%s-%d.arrow", t.Name(), k.name, n)
			want := k.rows(n)
			if err := k.write(t.Context(), url, want); err != nil {
				t.Fatal(err)
			}
			got, err := k.read(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%d rows of %s: read other rows", n, k.name)
			}
		}
	}
}

func TestEveryDamageIsNoticed(t *testing.T) {
	for _, k := range kinds {
		for _, n := range []int{0, 3} {
			url := fmt.Sprintf("mem://%s/%s-%d.arrow", t.Name(), k.name, n)
			if err := k.write(t.Context(), url, k.rows(n)); err != nil {
				t.Fatal(err)
			}
			storagetest.EveryDamage(t, url, func(url string) error {
				_, err := k.read(t.Context(), url)
				return err
			})
		}
	}
}

func TestSameRowsGiveSameBytes(t *testing.T) {
	for _, k := range kinds {
		n := 70_000 // several batches, each of several zstd blocks
		if k.name == "distances" {
			n = 1500
		}
		rows := k.rows(n)
		storagetest.SameBytes(t, func(url string) error { return k.write(t.Context(), url, rows) })
	}
}

func TestGoldenFiles(t *testing.T) {
	for _, k := range kinds {
		want := k.rows(5)
		golden := storagetest.Golden(t, k.name+".arrow", func(url string) error { return k.write(t.Context(), url, want) })
		got, err := k.read(t.Context(), golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", golden, diff)
		}
	}
}

func TestReadersRefuseOtherTables(t *testing.T) {
	for _, written := range kinds {
		url := fmt.Sprintf("mem://%s/%s.arrow", t.Name(), written.name)
		if err := written.write(t.Context(), url, written.rows(2)); err != nil {
			t.Fatal(err)
		}
		for _, k := range kinds {
			if k.name == written.name {
				continue
			}
			_, err := k.read(t.Context(), url)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it holds a table of %q, not of %q", written.name, k.name)) {
				t.Errorf("%s read as %s: error %v", written.name, k.name, err)
			}
		}
	}
}

func TestReadersNameAnAbsentFile(t *testing.T) {
	for _, k := range kinds {
		_, err := k.read(t.Context(), "mem://nowhere/absent.arrow")
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "mem://nowhere/absent.arrow") {
			t.Errorf("%s: error %v", k.name, err)
		}
	}
}

func TestWritersRefuseWhatReadersRelyOn(t *testing.T) {
	ctx := t.Context()
	url := "mem://refused/table.arrow"
	for name, err := range map[string]error{
		"a name twice":         writeNames(ctx, url, []string{"a", "b", "b"}),
		"names out of order":   writeNames(ctx, url, []string{"a", "c", "b"}),
		"edges out of order":   writeEdges(ctx, url, Edges{[]int32{1, 0}, []int32{0, 0}, []int32{0, 0}}),
		"heads out of order":   writeEdges(ctx, url, Edges{[]int32{1, 1}, []int32{0, 0}, []int32{5, 4}}),
		"relations unordered":  writeEdges(ctx, url, Edges{[]int32{1, 1}, []int32{3, 2}, []int32{4, 4}}),
		"a negative edge":      writeEdges(ctx, url, Edges{[]int32{1}, []int32{0}, []int32{-1}}),
		"a negative query":     writeQueries(ctx, url, [][3]int32{{0, -1, 0}}),
		"a negative answer":    writeQueries(ctx, url, [][3]int32{{0, 0, -2}}),
		"a pair twice":         writeAnswers(ctx, url, Answers{[]int32{1, 1}, []int32{2, 2}, [][]int32{{1}, {1}}}),
		"an answer twice":      writeAnswers(ctx, url, Answers{[]int32{1}, []int32{2}, [][]int32{{4, 4}}}),
		"too many answers":     writeAnswers(ctx, url, Answers{[]int32{1}, []int32{2}, [][]int32{make([]int32, MostAnswers+1)}}),
		"types unordered":      writeTypes(ctx, url, []Type{{"b", []int32{1}}, {"a", []int32{2}}}),
		"a typed entity twice": writeTypes(ctx, url, []Type{{"a", []int32{1, 1}}}),
		"a negative entity":    writeTypes(ctx, url, []Type{{"a", []int32{-1}}}),
		"sources unordered":    writeDistances(ctx, url, 3, []DistanceRow{{1, Pack(make([]uint8, 3))}, {0, Pack(make([]uint8, 3))}}),
		"a source twice":       writeDistances(ctx, url, 3, []DistanceRow{{1, Pack(make([]uint8, 3))}, {1, Pack(make([]uint8, 3))}}),
		"a source beyond":      writeDistances(ctx, url, 3, []DistanceRow{{3, Pack(make([]uint8, 3))}}),
		"a row too short":      writeDistances(ctx, url, 3, []DistanceRow{{0, make([]byte, 1)}}),
		"rows of no entities":  writeDistances(ctx, url, 0, nil),
		"parts unordered":      writeParts(ctx, url, []Part{samplePart(1), samplePart(0)}),
		"a part twice":         writeParts(ctx, url, []Part{samplePart(1), samplePart(1)}),
	} {
		if err == nil || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := CreateDistances(ctx, url, 3, hop.Most+1); err == nil {
		t.Error("more hops than 4 bits hold were accepted")
	}
	if _, err := ReadNames(ctx, url, Entities); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused table left a file: %v", err)
	}
}

func TestAnswersOf(t *testing.T) {
	a := Answers{[]int32{1, 1, 4}, []int32{0, 3, 2}, [][]int32{{7}, {8, 9}, {5}}}
	for _, c := range []struct {
		source, relation int32
		want             []int32
	}{{1, 0, []int32{7}}, {1, 3, []int32{8, 9}}, {4, 2, []int32{5}}, {1, 2, nil}, {0, 0, nil}, {4, 3, nil}, {9, 0, nil}} {
		if got := a.Of(c.source, c.relation); !gocmp.Equal(got, c.want) {
			t.Errorf("answers of (%d, %d) are %v, want %v", c.source, c.relation, got, c.want)
		}
	}
	for source, want := range map[int32][2]int{0: {0, 0}, 1: {0, 2}, 2: {2, 2}, 4: {2, 3}, 9: {3, 3}} {
		if first, end := a.Pairs(source); first != want[0] || end != want[1] {
			t.Errorf("the pairs of %d are %d to %d, want %v", source, first, end, want)
		}
	}
}

// TestReadAnswersOf reads the answers of some sources from a file of several batches.
func TestReadAnswersOf(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), "mem://"+t.Name()+"/answers"
	w, err := CreateAnswers(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	for source := range int32(50_000) {
		for relation := range int32(source % 3) {
			if err := w.Write(source, relation, []int32{relation, source + 10}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	all, err := ReadAnswers(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	for _, sources := range [][]int32{{0}, {1, 2}, {3}, {17, 18, 20_000, 49_999}, {40_000}, {49_999}, {60_000}, nil} {
		got, err := ReadAnswersOf(ctx, url, sources)
		if err != nil {
			t.Fatal(err)
		}
		var want Answers
		want.appendPairs(all, sources)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("sources %v (-want +got):\n%s", sources, diff)
		}
		for _, source := range sources {
			if from, end := got.Pairs(source); source < 50_000 && end-from != int(source%3) {
				t.Errorf("source %d has %d pairs", source, end-from)
			}
		}
	}
}

// ReadEdges reads a whole file of edges.
func ReadEdges(ctx context.Context, url string) (Edges, error) {
	e := Edges{[]int32{}, []int32{}, []int32{}}
	err := EachEdges(ctx, url, func(batch Edges) error {
		e.Tails = append(e.Tails, batch.Tails...)
		e.Relations = append(e.Relations, batch.Relations...)
		e.Heads = append(e.Heads, batch.Heads...)
		return nil
	})
	if err != nil {
		return Edges{}, err
	}
	return e, nil
}
