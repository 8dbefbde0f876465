package tables

import (
	"bytes"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
)

func TestPackLayout(t *testing.T) {
	got := Pack([]uint8{0, 1, 14, Unreached, 15, 200, 3})
	// The even entity in the low half; the half behind an odd end is unreached.
	if want := []byte{0x10, 0xfe, 0xff, 0xf3}; !bytes.Equal(got, want) {
		t.Errorf("packed to % x, want % x", got, want)
	}
	back := make([]uint8, 7)
	Unpack(got, back)
	if want := []uint8{0, 1, 14, Unreached, Unreached, Unreached, 3}; !gocmp.Equal(back, want) {
		t.Errorf("unpacked to %v, want %v", back, want)
	}
}

func TestUnpackInvertsPack(t *testing.T) {
	for n := range 70 {
		distances := make([]uint8, n)
		for i := range distances {
			if distances[i] = uint8(i * 7 % 16); distances[i] == 15 {
				distances[i] = Unreached
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

func TestDistanceReaderFindsRows(t *testing.T) {
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
			if err := w.Write(source, want(source)); err != nil {
				t.Fatal(err)
			}
			sources = append(sources, source)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		r, err := OpenDistances(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Entities() != entities || r.Hops() != 4 || r.Rows() != len(sources) {
			t.Errorf("%d entities, %d hops, %d rows", r.Entities(), r.Hops(), r.Rows())
		}
		got := make([]uint8, entities)
		for i := len(sources) - 1; i >= 0; i-- {
			if found, err := r.Row(sources[i], got); err != nil || !found || !bytes.Equal(got, want(sources[i])) {
				t.Errorf("source %d of %d: found %v, error %v, or other distances", sources[i], entities, found, err)
			}
			absent := sources[i] + 1
			if i+1 < len(sources) && sources[i+1] == absent {
				continue
			}
			if found, err := r.Row(absent, got); found || err != nil {
				t.Errorf("absent source %d of %d: found %v, error %v", absent, entities, found, err)
			}
		}
		if found, err := r.Row(-1, got); found || err != nil {
			t.Errorf("source -1: found %v, error %v", found, err)
		}
	}
}

// TestDistanceReaderReadsOnlyRequestedBatches damages one batch: rows of others can still be read,
// and those of this one cannot.
func TestDistanceReaderReadsOnlyRequestedBatches(t *testing.T) {
	ctx := t.Context()
	url := "mem://" + t.Name() + "/d.arrow"
	rows := sampleDistances(2500)
	if err := writeDistances(ctx, url, 5001, rows); err != nil {
		t.Fatal(err)
	}
	r, err := OpenDistances(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	blocks := r.table.frame.blocks
	if len(blocks) < 3 {
		t.Fatalf("only %d batches", len(blocks))
	}
	data, _ := storage.ReadFile(ctx, url)
	data[blocks[1].offset+blocks[1].length/2] ^= 1
	if err := storage.WriteFile(ctx, url, data); err != nil {
		t.Fatal(err)
	}
	if r, err = OpenDistances(ctx, url); err != nil {
		t.Fatal(err)
	}
	for i, wantError := range []bool{false, true, false} {
		if _, _, err := r.Packed(int32(blocks[i].key)); (err != nil) != wantError {
			t.Errorf("row of batch %d: error %v", i, err)
		}
	}
}

func TestElements(t *testing.T) {
	edges := Edges{[]int32{3, 1}, []int32{0, 2}, []int32{9, 9}}
	data, err := EncodeEdges(edges)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeEdges(data); err != nil || !gocmp.Equal(got, edges) {
		t.Errorf("edges became %v, error %v", got, err)
	}
	if _, err := DecodeQueries(data); err == nil {
		t.Error("edges were decoded as queries")
	}
	queries := sampleQueries(9)
	data, err = EncodeQueries(queries)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeQueries(data); err != nil || !gocmp.Equal(got, queries) {
		t.Errorf("queries became %v, error %v", got, err)
	}
	rows := sampleDistances(4)
	data, err = EncodeDistances(9, rows)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeDistances(data, 9); err != nil || !gocmp.Equal(got, rows) {
		t.Errorf("distances became %v, error %v", got, err)
	}
	for n := range data {
		if _, err := DecodeDistances(data[:n], 9); err == nil {
			t.Errorf("an element cut at byte %d of %d was decoded", n, len(data))
		}
		flipped := bytes.Clone(data)
		flipped[n] ^= 4
		if _, err := DecodeDistances(flipped, 9); err == nil {
			t.Errorf("an element flipped in byte %d of %d was decoded", n, len(data))
		}
	}
}
