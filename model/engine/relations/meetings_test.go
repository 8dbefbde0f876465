package relations_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/storage"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	compare "tagnet/model/internal/spec/golden"

	"github.com/google/go-cmp/cmp"
)

// TestMeetingsMerge adds the relations of each entity to one of several Meetings, in random order, and merges them.
func TestMeetingsMerge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for range 10 {
		count := 1 + rng.IntN(80) // more than a word
		g := compare.RandomGraph(t, rng, 30, count, 60)
		want := relations.MeetingsOf(g)
		merged, shards := relations.NewMeetings(count), make([]*relations.Meetings, 3)
		for i := range shards {
			shards[i] = relations.NewMeetings(count)
		}
		for _, u := range rng.Perm(g.Entities) {
			var leaving []int32
			_, entering := g.In(int32(u))
			for _, r := range entering {
				leaving = append(leaving, g.Inverse(r))
			}
			if err := shards[rng.IntN(len(shards))].Add(leaving); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range rng.Perm(len(shards)) {
			if err := merged.Merge(shards[i]); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, merged, cmp.AllowUnexported(relations.Meetings{})); diff != "" {
			t.Errorf("merged meetings differ from the graph's (-want +got):\n%s", diff)
		}
	}
	if err := relations.NewMeetings(2).Add([]int32{1, 4}); err == nil {
		t.Error("relation 4 of 4 is added")
	}
	if err := relations.NewMeetings(2).Merge(relations.NewMeetings(3)); err == nil {
		t.Error("meetings of other relations are merged")
	}
}

func TestCountEdges(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	for _, count := range []int{1, 3, 32, 33, 100} {
		for _, facts := range []int{0, 5, 400} {
			g := compare.RandomGraph(t, rng, 30, count, facts)
			want := relations.GraphOf(g).Edges()
			for _, bytes := range []int64{0, 100, 1 << 20} { // a row at a time, a few, all
				if got := relations.CountEdges(g, bytes); got != want {
					t.Errorf("%d relations, %d facts, %d bytes: %d edges, want %d", count, facts, bytes, got, want)
				}
			}
		}
	}
}

// TestMeetingsAreEncoded decodes what was encoded, and refuses every change of a bit and every other length.
func TestMeetingsAreEncoded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 3))
	for _, count := range []int{0, 1, 3, 32, 33, 100} {
		for _, facts := range []int{0, 5, 400} {
			want := relations.NewMeetings(count)
			if count > 0 {
				want = relations.MeetingsOf(compare.RandomGraph(t, rng, 30, count, facts))
			}
			encoded, err := want.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			got := relations.NewMeetings(7) // which decoding replaces
			if err := got.UnmarshalBinary(encoded); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(relations.Meetings{})); diff != "" {
				t.Errorf("%d relations: decoded meetings differ (-want +got):\n%s", count, diff)
			}
			for n := range encoded {
				if got.UnmarshalBinary(encoded[:n]) == nil {
					t.Errorf("%d of %d bytes are decoded", n, len(encoded))
				}
			}
			for bit := range 8 * len(encoded) {
				changed := bytes.Clone(encoded)
				changed[bit/8] ^= 1 << (bit % 8)
				if got.UnmarshalBinary(changed) == nil {
					t.Errorf("%d bytes are decoded although bit %d is changed", len(encoded), bit)
				}
			}
		}
	}
}

// withChecksum appends the checksum to encoded meetings.
func withChecksum(encoded []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clip(encoded), storage.CRC32C(0, encoded))
}

// TestForgedMeetingsAreRefused has the right checksums. Relations 0 and 1 are all there are of one base relation.
func TestForgedMeetingsAreRefused(t *testing.T) {
	t.Parallel()
	word := func(w uint64) []byte { return binary.LittleEndian.AppendUint64(nil, w) }
	for what, encoded := range map[string][]byte{
		"an odd number of relations": {3},
		"too many relations":         binary.AppendUvarint(nil, relations.MostRelations+2),
		"a word beyond the last":     slices.Concat([]byte{2, 2}, word(1)),
		"far beyond the last":        slices.Concat([]byte{2}, binary.AppendUvarint(nil, 1<<63), word(1)),
		"one word too many":          slices.Concat([]byte{2, 1}, word(1), []byte{0}, word(1)),
		"half a word":                {2, 0, 1, 0, 0, 0},
		"a word of zeros":            slices.Concat([]byte{2, 0}, word(0)),
		"a relation beyond":          slices.Concat([]byte{2, 0}, word(4)),
		"an endless number":          bytes.Repeat([]byte{0x80}, 11),
	} {
		if err := new(relations.Meetings).UnmarshalBinary(withChecksum(encoded)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := new(relations.Meetings).UnmarshalBinary(withChecksum(slices.Concat([]byte{2, 0}, word(3), []byte{0}, word(3)))); err != nil {
		t.Errorf("the encoding of two relations that meet: %v", err)
	}
}

// FuzzMeetings decodes any bytes with a right checksum, and encodes what they are: not always in the same bytes, since a uvarint may have
// leading zeros.
func FuzzMeetings(f *testing.F) {
	g, err := graph.New(3, 40, []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 1, Relation: 39, Tail: 1}})
	if err != nil {
		f.Fatal(err)
	}
	encoded, err := relations.MeetingsOf(g).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded[:len(encoded)-4])
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var m, again relations.Meetings
		if m.UnmarshalBinary(withChecksum(encoded)) != nil {
			return
		}
		encoded, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(encoded); err != nil {
			t.Fatal(err)
		}
		if twice, err := again.MarshalBinary(); err != nil || !bytes.Equal(twice, encoded) {
			t.Errorf("decoded and encoded again: %x, want %x", twice, encoded)
		}
	})
}
