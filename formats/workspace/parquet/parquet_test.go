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

func sampleRankings(n int) []Ranking {
	rows := make([]Ranking, n)
	for i := range rows {
		rows[i] = Ranking{
			Query: int64(i), Direction: []string{"tail", "head"}[i%2], Source: fmt.Sprintf("ä %d", i%7), Relation: "likes", Answer: fmt.Sprint("b", i%5),
			Score: float32(i)*0.1 - 3, RankPessimistic: int64(i) + 3, RankMean: float64(i) + 1.5, RankOptimistic: int64(i) + 1, Candidates: 1 << 40, Distance: int32(i%4) - 1,
		}
	}
	return rows
}

func samplePredictions(n int) []Prediction {
	rows := make([]Prediction, n)
	for i := range rows {
		rows[i] = Prediction{
			Query: int64(i / 2), Direction: "tail", Source: fmt.Sprint("a", i%7), Relation: "likes", Position: int32(i%10) + 1, Entity: fmt.Sprint("e", i),
			Score: float32(i)/8 - 2, Known: i%3 == 0, Hops: 2,
		}
	}
	return rows
}

func sampleAnswers(n int) []Answer {
	rows := make([]Answer, n)
	for i := range rows {
		rows[i] = Answer{
			Query: int64(i / 3), Direction: "head", Source: fmt.Sprint("a", i%7), Relation: "likes", Position: int32(i%3) + 1, Entity: fmt.Sprintf("ä %d", i),
			Score: float32(i)*0.1 - 3, Rank: int64(i) + 1, OtherScore: 0.5, OtherRank: 1 << 33, Known: i%2 == 0, Hops: int32(i%3) - 1,
		}
		if i%3 > 0 {
			p := 1 / float64(i+1)
			rows[i].Probability = &p
		}
	}
	return rows
}

func sampleExplanations(n int) []Explanation {
	rows := make([]Explanation, n)
	for i := range rows {
		rows[i] = Explanation{
			Query: int64(i / 6), Direction: "head", Source: fmt.Sprint("a", i%7), Relation: "likes", Entity: fmt.Sprint("e", i/3), Path: int32(i%3) + 1,
			Weight: 0.1 - float64(i)/7, Text: fmt.Sprintf("a -~likes-> ä %d", i), Steps: `[{"from":"a","relation":"likes","inverse":true,"to":"ä"}]`,
		}
	}
	return rows
}

func sampleTriples(n int) []Triple {
	rows := make([]Triple, n)
	for i := range rows {
		rows[i] = Triple{
			Query: int64(n - i), Head: fmt.Sprintf("ä %d", i%7), Relation: "likes", Tail: fmt.Sprint("b", i),
			TailScore: float32(i) - 2, TailRank: 1, HeadScore: 0.1, HeadRank: 1 << 33, Known: i%2 == 0, Hops: int32(i%3) - 1,
		}
		if i%3 > 0 {
			p, odds := 1/float64(i+1), float64(i)-7.5
			rows[i].Probability, rows[i].LogOdds = &p, &odds
		}
	}
	return rows
}

func sampleFacts(n int) []Fact {
	rows := make([]Fact, n)
	for i := range rows {
		rows[i] = Fact{
			Position: int64(i) + 1, Head: fmt.Sprint("a", i%7), Relation: "likes", Tail: fmt.Sprintf("ä %d", i),
			TailScore: float32(i) - 2, TailRank: 3, HeadScore: 0.1, HeadRank: 1 << 33, Hops: int32(i%3) - 1,
		}
		if i%3 > 0 {
			p := 1 / float64(i+1)
			rows[i].Probability = &p
		}
	}
	return rows
}

func sampleCounts(n int) []MessageCount {
	rows := make([]MessageCount, n)
	for i := range rows {
		rows[i] = MessageCount{fmt.Sprint("s", i), 3, 6, int32(i%6) + 1, 2, 173670, int64(i), 1, 2, 3, 1 << 50}
	}
	return rows
}

// suite runs every test on one type of row.
func suite[R Row](t *testing.T, sample func(n int) []R) {
	ctx := t.Context()
	name := (*new(R)).table().Name
	write := func(n int) func(url string) error {
		return func(url string) error { return Write(ctx, url, sample(n)) }
	}
	t.Run("every column has a value", func(t *testing.T) {
		rows := reflect.ValueOf(sample(10))
		for c := range rows.Type().Elem().NumField() {
			values := 0
			for i := range rows.Len() {
				if !rows.Index(i).Field(c).IsZero() {
					values++
				}
			}
			if values == 0 {
				t.Errorf("the sample has no %s", rows.Type().Elem().Field(c).Name)
			}
		}
	})
	t.Run("round trip", func(t *testing.T) {
		for _, n := range []int{0, 1, 5, 3000} {
			url := fmt.Sprintf("mem://parquet/%s-%d", name, n)
			if err := write(n)(url); err != nil {
				t.Fatal(err)
			}
			got, err := Read[R](ctx, url)
			if err != nil || !reflect.DeepEqual(got, sample(n)) {
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
		rows := sample(50)
		data, err := encode(rows)
		if err != nil {
			t.Fatal(err)
		}
		whole, end := withoutChecksum(data)
		r := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			flipped := slices.Clone(whole)
			at := r.IntN(end - 8) // the length of the footer and the magic are verified with the checksum
			flipped[at] ^= 1 << r.IntN(8)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := decode[R](addChecksum(flipped))
			runtime.ReadMemStats(&after)
			if after.TotalAlloc-before.TotalAlloc > 1<<30 || err == nil && len(got) != len(rows) || err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) && !strings.Contains(err.Error(), name) {
				t.Errorf("a flipped bit in byte %d: %d rows, error %v, %d bytes allocated", at, len(got), err, after.TotalAlloc-before.TotalAlloc)
			}
		}
	})
	t.Run("same bytes", func(t *testing.T) { storagetest.SameBytes(t, write(5_000)) })
	t.Run("golden", func(t *testing.T) {
		golden := storagetest.Golden(t, name+".parquet", write(5))
		if got, err := Read[R](ctx, golden); err != nil || !reflect.DeepEqual(got, sample(5)) {
			t.Errorf("%v, error %v", got, err)
		}
	})
	t.Run("absent", func(t *testing.T) {
		if _, err := Read[R](ctx, "mem://parquet/absent"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
}

func TestRankings(t *testing.T)      { suite(t, sampleRankings) }
func TestPredictions(t *testing.T)   { suite(t, samplePredictions) }
func TestAnswers(t *testing.T)       { suite(t, sampleAnswers) }
func TestExplanations(t *testing.T)  { suite(t, sampleExplanations) }
func TestFacts(t *testing.T)         { suite(t, sampleFacts) }
func TestTriples(t *testing.T)       { suite(t, sampleTriples) }
func TestMessageCounts(t *testing.T) { suite(t, sampleCounts) }

// Arrow's writer has a dictionary of each column, and continues without it where it becomes too long. The order in which it
// lists the encodings of such a column is that of a Go map.
func TestSameBytesWithLongDictionaries(t *testing.T) {
	const long = 9 << 10 // texts of a dictionary that overflows
	tables := map[string]func(i int) string{
		"at once":                    func(i int) string { return fmt.Sprintf("%0200d", i) },
		"in the first of two groups": func(i int) string { return fmt.Sprintf("%0200d", min(i, long)) },
		"in the second":              func(i int) string { return fmt.Sprintf("%0200d", max(0, i-rowsPerGroup)) },
	}
	for name, text := range tables {
		rows := make([]MessageCount, long)
		if name != "at once" {
			rows = make([]MessageCount, rowsPerGroup+long)
		}
		for i := range rows {
			rows[i] = MessageCount{Source: text(i), Edges: int64(i)}
		}
		var first []byte
		for i := range 8 { // of two orders
			data, err := encode(rows)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = data
				if got, err := decode[MessageCount](data); err != nil || !slices.Equal(got, rows) {
					t.Errorf("texts that overflow %s: other rows, error %v", name, err)
				}
			}
			if !bytes.Equal(data, first) {
				t.Errorf("texts that overflow %s: other bytes", name)
				break
			}
		}
	}
}

func TestReadRefusesAnotherTable(t *testing.T) {
	if err := Write(t.Context(), "mem://parquet/other", samplePredictions(1)); err != nil {
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
	data, err := encode(sampleCounts(5))
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
	data, err := encode(sampleRankings(1_000_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := decode[Ranking](data); err != nil {
			b.Fatal(err)
		}
	}
}
