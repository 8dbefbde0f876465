package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet/metadata"

	"tagnet/formats/storage/storagetest"
)

// sampleRows returns rows of which every column has values of its own: whole numbers fall from column to
// column, as ranks do.
func sampleRows[R Row](n int) []R {
	rows := make([]R, n)
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for c := range row.NumField() {
			switch name := row.Type().Field(c).Name; field := row.Field(c).Addr().Interface().(type) {
			case *string:
				*field = fmt.Sprintf("ä %s %d", name, i%7)
				if name == "Direction" {
					*field = []string{"tail", "head"}[i%2]
				}
			case *int32:
				*field = int32(i%4) + int32(c)
			case *int64:
				*field = 1<<33 + int64(i-c)
				if name == "Candidates" || name == "Cases" {
					*field = 1 << 40
				}
			case *float64:
				*field = float64(1<<33 + i - c)
			case *float32:
				*field = float32(i)*0.1 - float32(c)
			case *bool:
				*field = (i+c)%2 == 0
			case **float64:
				if p := 1 / float64(i+c); i%3 > 0 {
					*field = &p
				}
			}
		}
	}
	return rows
}

// suite runs every test on one type of row.
func suite[R Row](t *testing.T) {
	ctx := t.Context()
	name := (*new(R)).table().Name
	write := func(n int) func(url string) error {
		return func(url string) error { return Write(ctx, url, sampleRows[R](n)) }
	}
	t.Run("every column has a value", func(t *testing.T) { storagetest.EveryField(t, sampleRows[R](10)) })
	t.Run("round trip", func(t *testing.T) {
		for _, n := range []int{0, 1, 5, 3000} {
			url := fmt.Sprintf("mem://parquet/%s-%d", name, n)
			if err := write(n)(url); err != nil {
				t.Fatal(err)
			}
			got, err := Read[R](ctx, url)
			if err != nil || !reflect.DeepEqual(got, sampleRows[R](n)) {
				t.Errorf("%d rows: read %d other rows, error %v", n, len(got), err)
			}
		}
	})
	t.Run("damage", func(t *testing.T) {
		url := "mem://parquet/damaged-" + name
		if err := write(2)(url); err != nil {
			t.Fatal(err)
		}
		storagetest.EveryDamage(t, url, func(url string) error {
			_, err := Read[R](ctx, url)
			return err
		})
	})
	t.Run("damage with a right checksum", func(t *testing.T) {
		rows := sampleRows[R](50)
		data, err := encode(rows)
		if err != nil {
			t.Fatal(err)
		}
		whole, end := withoutChecksum(data)
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			flipped := slices.Clone(whole)
			at := r.IntN(end - 8) // the length of the footer and the magic are verified with the checksum
			flipped[at] ^= 1 << r.IntN(8)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := decode[R](addChecksum(flipped))
			runtime.ReadMemStats(&after)
			if after.TotalAlloc-before.TotalAlloc > 1<<30 || err == nil && len(got) != len(rows) ||
				err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) && !strings.Contains(err.Error(), name) {
				t.Errorf("a flipped bit in byte %d: %d rows, error %v, %d bytes allocated", at, len(got), err, after.TotalAlloc-before.TotalAlloc)
			}
		}
	})
	t.Run("same bytes", func(t *testing.T) { storagetest.SameBytes(t, write(5_000)) })
	t.Run("golden", func(t *testing.T) {
		golden := storagetest.Golden(t, name+".parquet", write(5))
		if got, err := Read[R](ctx, golden); err != nil || !reflect.DeepEqual(got, sampleRows[R](5)) {
			t.Errorf("%v, error %v", got, err)
		}
	})
	t.Run("absent", func(t *testing.T) {
		if _, err := Read[R](ctx, "mem://parquet/absent"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
}

func TestRankings(t *testing.T)      { suite[Ranking](t) }
func TestPredictions(t *testing.T)   { suite[Prediction](t) }
func TestAnswers(t *testing.T)       { suite[Answer](t) }
func TestExplanations(t *testing.T)  { suite[Explanation](t) }
func TestFacts(t *testing.T)         { suite[Fact](t) }
func TestTriples(t *testing.T)       { suite[Triple](t) }
func TestMessageCounts(t *testing.T) { suite[MessageCount](t) }

// Arrow's writer has a dictionary of each column, and continues without it where it becomes too long. The order in
// which it lists the encodings of such a column is that of a Go map.
func TestSameBytesWithLongDictionaries(t *testing.T) {
	const long = 9 << 10 // texts of a dictionary that overflows
	rows := func(n int, text func(i int) int) []MessageCount {
		rows := make([]MessageCount, n)
		for i := range rows {
			rows[i] = MessageCount{Source: fmt.Sprintf("%0200d", text(i)), Edges: int64(i)}
		}
		return rows
	}
	for name, c := range map[string]struct {
		rows []MessageCount
		want bool
	}{
		"few texts":                  {rows(long, func(i int) int { return i % 100 }), false},
		"in the first of two groups": {rows(rowsPerGroup+long, func(i int) int { return min(i, long) }), true},
		"in the second":              {rows(rowsPerGroup+long, func(i int) int { return max(0, i-rowsPerGroup) }), true},
	} {
		if got := overflows(c.rows, 0); got != c.want {
			t.Errorf("%s: overflows is %v", name, got)
		}
	}
	distinct := rows(long, func(i int) int { return i })
	var first []byte
	for range 8 { // of two orders
		data, err := encode(distinct)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(data, first) {
			t.Fatal("texts that overflow: other bytes")
		}
	}
	if got, err := decode[MessageCount](first); err != nil || !slices.Equal(got, distinct) {
		t.Errorf("texts that overflow: other rows, error %v", err)
	}
}

func TestReadRefusesAnotherTable(t *testing.T) {
	if err := Write(t.Context(), "mem://parquet/other", sampleRows[Prediction](1)); err != nil {
		t.Fatal(err)
	}
	_, err := Read[Ranking](t.Context(), "mem://parquet/other")
	if err == nil || !strings.Contains(err.Error(), "mem://parquet/other: it does not hold a table of rankings") {
		t.Errorf("error %v", err)
	}
}

// The file is one of version 1 of the table, in testdata since before there was another.
func TestReadRefusesAnotherVersion(t *testing.T) {
	_, err := Read[Prediction](t.Context(), "testdata/predictions-1.parquet")
	if !errors.Is(err, ErrVersion) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "predictions-1.parquet") {
		t.Errorf("error %v", err)
	}
}

// withoutChecksum returns the file that addChecksum got, and its length.
func withoutChecksum(data []byte) ([]byte, int) {
	start, _ := footerStart(data)
	data = slices.Delete(slices.Clone(data), start-checksumLength, start)
	return data, len(data)
}

func TestReadRefusesForgedRows(t *testing.T) {
	data, err := encode(sampleRows[MessageCount](5))
	if err != nil {
		t.Fatal(err)
	}
	whole, length := withoutChecksum(data)
	start, _ := footerStart(whole)
	for what, change := range map[string]func(m *metadata.FileMetaData){
		"rows of the file":    func(m *metadata.FileMetaData) { m.NumRows = 1 << 62 },
		"rows of a row group": func(m *metadata.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<62, 1<<62 },
		"negative rows":       func(m *metadata.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = -1, -1 },
		"rows and values": func(m *metadata.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows = 1<<62, 1<<62
			for _, c := range m.RowGroups[0].Columns {
				c.MetaData.NumValues = 1 << 62
			}
		},
		"a row more": func(m *metadata.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 6, 6 },
		"null":       func(m *metadata.FileMetaData) { *m.FileMetaData.Schema[3].RepetitionType = 1 },
		"a name":     func(m *metadata.FileMetaData) { m.FileMetaData.Schema[3].Name = "other" },
		"a type":     func(m *metadata.FileMetaData) { *m.FileMetaData.Schema[3].Type = 2 },
	} {
		m, err := metadata.NewFileMetaData(whole[start:length-8], nil)
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		footer, err := m.Serialize(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		forged := binary.LittleEndian.AppendUint32(append(slices.Clone(whole[:start]), footer...), uint32(len(footer)))
		if rows, err := decode[MessageCount](addChecksum(append(forged, "PAR1"...))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %d rows, error %v", what, len(rows), err)
		}
	}
}

// TestImpossibleRows checks that a row which no command writes is refused, though its file has the right checksum.
func TestImpossibleRows(t *testing.T) {
	url := "mem://parquet/impossible"
	if err := Write(t.Context(), url, []Prediction{{Direction: "tail", Position: 1}, {Direction: "tail"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read[Prediction](t.Context(), url); err == nil || !strings.Contains(err.Error(), "row 2: position is 0") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkRead reads a million rankings.
func BenchmarkRead(b *testing.B) {
	data, err := encode(sampleRows[Ranking](1_000_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := decode[Ranking](data); err != nil {
			b.Fatal(err)
		}
	}
}
