package tables

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
)

// Pack packs distances as a Searcher does: Unpack is its inverse.
func Pack(distances []uint8) []byte {
	packed := bytes.Repeat([]byte{hop.Packed<<4 | hop.Packed}, PackedLen(len(distances)))
	for i, d := range distances {
		shift := 4 * (i % 2)
		packed[i/2] = packed[i/2]&^(15<<shift) | min(d, hop.Packed)<<shift
	}
	return packed
}

func TestPackLayout(t *testing.T) {
	got := Pack([]uint8{0, 1, 14, hop.Unreached, 15, 200, 3})
	// Even entities are in the low half; with an odd number, the last half is unreached.
	if want := []byte{0x10, 0xfe, 0xff, 0xf3}; !bytes.Equal(got, want) {
		t.Errorf("packed to % x, want % x", got, want)
	}
	back := make([]uint8, 7)
	Unpack(got, back)
	if want := []uint8{0, 1, 14, hop.Unreached, hop.Unreached, hop.Unreached, 3}; !gocmp.Equal(back, want) {
		t.Errorf("unpacked to %v, want %v", back, want)
	}
}

func TestUnpackInvertsPack(t *testing.T) {
	for n := range 70 {
		distances := make([]uint8, n)
		for i := range distances {
			if distances[i] = uint8(i * 7 % 16); distances[i] == 15 {
				distances[i] = hop.Unreached
			}
		}
		back := bytes.Repeat([]byte{99}, n)
		Unpack(Pack(distances), back)
		if !bytes.Equal(back, distances) {
			t.Errorf("%d entities: %v became %v", n, distances, back)
		}
		for i, distance := range distances {
			if got := PackedAt(Pack(distances), int32(i)); got != distance {
				t.Errorf("%d entities: the distance at %d is %d, want %d", n, i, got, distance)
			}
		}
	}
}

// EachDistances calls each for every row of a table, by increasing source, until it returns an error.
func EachDistances(ctx context.Context, url string, each func(DistanceRow) error) error {
	check := func(schema *arrow.Schema) error {
		metadata := schema.Metadata()
		numbers := [2]int{}
		for i, key := range [2]string{entitiesKey, hopsKey} {
			text, _ := metadata.GetValue(key)
			numbers[i], _ = strconv.Atoi(text)
		}
		return sameTable(schema, distancesSchema(numbers[0], numbers[1]))
	}
	return eachBatch(ctx, url, check, nil, func(rows arrow.Record) error {
		packed := rows.Column(1).(*array.FixedSizeBinary)
		for i, source := range int32Values(rows, 0) {
			if err := each(DistanceRow{source, packed.Value(i)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestEachDistances(t *testing.T) {
	ctx := t.Context()
	for _, entities := range []int{1, 2, 1001, 300_001} {
		url := fmt.Sprintf("mem://%s/%d.arrow", t.Name(), entities)
		w, err := CreateDistances(ctx, url, entities, 4)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		var sources []int32
		want := func(source int32) []uint8 { return bytes.Repeat([]byte{uint8(source % 5)}, entities) }
		for source := int32(0); int(source) < entities && len(sources) < 40; source += int32(1 + entities/33) {
			if err := w.WriteRow(DistanceRow{source, Pack(want(source))}); err != nil {
				t.Fatal(err)
			}
			sources = append(sources, source)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		var got []int32
		distances := make([]uint8, entities)
		err = EachDistances(ctx, url, func(row DistanceRow) error {
			got = append(got, row.Source)
			if Unpack(row.Packed, distances); !bytes.Equal(distances, want(row.Source)) {
				t.Errorf("source %d of %d has other distances", row.Source, entities)
			}
			return nil
		})
		if err != nil || !gocmp.Equal(got, sources) {
			t.Errorf("%d entities: sources %v, want %v; error %v", entities, got, sources, err)
		}
	}
}

// TestEachDistancesStopsAtDamage damages the second batch: the rows before it are read, then the error names the file.
func TestEachDistancesStopsAtDamage(t *testing.T) {
	ctx := t.Context()
	url := "mem://" + t.Name() + "/d.arrow"
	if err := writeDistances(ctx, url, 5001, sampleDistances(2500)); err != nil {
		t.Fatal(err)
	}
	r, err := openTable(ctx, url, func(*arrow.Schema) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	blocks := r.frame.blocks
	if len(blocks) < 3 || blocks[1].Key != 2*int64(blocks[0].Rows) {
		t.Fatalf("batches %v, want several, with the keys of their first sources", blocks)
	}
	data, _ := storage.ReadFile(ctx, url)
	data[blocks[1].Offset+blocks[1].Length/2] ^= 1
	if err := storage.WriteFile(ctx, url, data); err != nil {
		t.Fatal(err)
	}
	rows := uint32(0)
	err = EachDistances(ctx, url, func(DistanceRow) error { rows++; return nil })
	if rows != blocks[0].Rows || err == nil || !strings.Contains(err.Error(), url) {
		t.Errorf("%d rows before error %v, want %d and one that names the file", rows, err, blocks[0].Rows)
	}
}
