package distances

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// hops are the distances of an entity from the 64 sources of a word, 4 bits each and 15 where
// it is not reached: source 2i in the low half of byte i, as formats/tables packs them.
type hops [SourcesPerWord / 2]byte

// nothing is hops of which none is reached.
var nothing = func() (h hops) {
	for i := range h {
		h[i] = 0xff
	}
	return h
}()

// reached has a bit for each source that reaches the entity.
func (h *hops) reached() (sources uint64) {
	for i := 0; i < len(h); i += 8 {
		x := binary.LittleEndian.Uint64(h[i:])
		x &= x >> 1
		x &= x >> 2
		x = ^x & 0x1111111111111111 // the lowest bit of each half that is not 15
		x = (x | x>>3) & 0x0303030303030303
		x = (x | x>>6) & 0x000f000f000f000f
		x = (x | x>>12) & 0x000000ff000000ff
		x = (x | x>>24) & 0xffff
		sources |= x << (2 * i)
	}
	return sources
}

// set notes the hop at which sources reach the entity for the first time.
func (h *hops) set(sources uint64, hop uint8) {
	for ; sources != 0; sources &= sources - 1 {
		i := bits.TrailingZeros64(sources)
		shift := 4 * (i & 1)
		h[i/2] = h[i/2]&^(15<<shift) | hop<<shift
	}
}

// stateSchema is that of the elements that carry what is found: a row for each entity and word
// of which anything is, 37 bytes.
var stateSchema = arrow.NewSchema([]arrow.Field{
	{Name: "entity", Type: arrow.PrimitiveTypes.Int32},
	{Name: "word", Type: arrow.PrimitiveTypes.Uint8},
	{Name: "distances", Type: &arrow.FixedSizeBinaryType{ByteWidth: SourcesPerWord / 2}},
}, nil)

const stateRow = 37

// stateWriter collects rows of a state and sends them in elements.
type stateWriter struct {
	send     func(element []byte)
	sent     bool
	entities []int32
	words    []uint8
	found    []byte
}

func (w *stateWriter) add(entity int32, word uint8, h *hops) error {
	w.entities, w.words, w.found = append(w.entities, entity), append(w.words, word), append(w.found, h[:]...)
	if len(w.entities) < rowsPerElement {
		return nil
	}
	return w.flush()
}

func (w *stateWriter) flush() error {
	element, err := encodeColumns(stateSchema, len(w.entities), arrow.Int32Traits.CastToBytes(w.entities), w.words, w.found)
	if err != nil {
		return err
	}
	w.send(element)
	w.sent = true
	w.entities, w.words, w.found = w.entities[:0], w.words[:0], w.found[:0]
	return nil
}

// close sends what is left. A state without rows is an element without bytes, so that each
// block and range comes in every round.
func (w *stateWriter) close() error {
	if len(w.entities) > 0 {
		return w.flush()
	}
	if !w.sent {
		w.send([]byte{})
	}
	return nil
}

// advance joins what a hop reached with the state: it leaves in the frontier what is reached
// for the first time, and hands on every row of the state with that noted. The row is only
// lent.
func advance(reached *frontier, hop uint8, states func(*[]byte) bool, each func(entity int32, word uint8, h *hops) error) error {
	held := make([]uint64, (len(reached.bits)+63)/64)
	var element []byte
	for states(&element) {
		if len(element) == 0 {
			continue
		}
		record, err := decodeColumns(element, stateSchema)
		if err != nil {
			return err
		}
		words := record.Column(1).(*array.Uint8).Uint8Values()
		found := record.Column(2).(*array.FixedSizeBinary)
		for i, entity := range record.Column(0).(*array.Int32).Int32Values() {
			at, err := reached.at(entity, words[i])
			if err != nil {
				return err
			}
			held[at/64] |= 1 << (at % 64)
			h := hops(found.Value(i))
			reached.bits[at] &^= h.reached()
			h.set(reached.bits[at], hop)
			if err := each(entity, words[i], &h); err != nil {
				return err
			}
		}
	}
	for at, sources := range reached.bits {
		if sources == 0 || held[at/64]>>(at%64)&1 == 1 {
			continue
		}
		h := nothing
		h.set(sources, hop)
		if err := each(reached.from+int32(at/reached.words), uint8(at%reached.words), &h); err != nil {
			return err
		}
	}
	return nil
}
