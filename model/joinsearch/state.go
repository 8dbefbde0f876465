package joinsearch

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// hops are the distances of an entity from the 64 sources of a word, 4 bits each, 15 if
// unreached: source 2i in the low half of byte i, as formats/tables packs them.
type hops [SourcesPerWord / 2]byte

// noHops is hops of which every source is unreached.
var noHops = func() (h hops) {
	for i := range h {
		h[i] = 0xff
	}
	return h
}()

// reached returns a bit for each source that reaches the entity.
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

// get returns the distance from the i-th source.
func (h *hops) get(i int) uint8 { return h[i/2] >> (4 * (i & 1)) & 15 }

// set stores the hop at which sources reach the entity for the first time.
func (h *hops) set(sources uint64, hop uint8) {
	for ; sources != 0; sources &= sources - 1 {
		i := bits.TrailingZeros64(sources)
		shift := 4 * (i & 1)
		h[i/2] = h[i/2]&^(15<<shift) | hop<<shift
	}
}

// stateSchema is the schema of elements that carry a state: a row of 37 bytes for each entity and
// word of which some source reaches the entity.
var stateSchema = arrow.NewSchema([]arrow.Field{
	{Name: "entity", Type: arrow.PrimitiveTypes.Int32},
	{Name: "word", Type: arrow.PrimitiveTypes.Uint8},
	{Name: "distances", Type: &arrow.FixedSizeBinaryType{ByteWidth: SourcesPerWord / 2}},
}, nil)

const stateRow = 37

// stateWriter collects rows of a state and sends them in elements.
type stateWriter struct {
	send      func(element []byte)
	sent      bool
	entities  []int32
	words     []uint8
	distances []byte
}

func (w *stateWriter) add(entity int32, word uint8, h *hops) error {
	w.entities, w.words, w.distances = append(w.entities, entity), append(w.words, word), append(w.distances, h[:]...)
	if len(w.entities) < rowsPerElement {
		return nil
	}
	return w.flush()
}

func (w *stateWriter) flush() error {
	element, err := encodeColumns(stateSchema, len(w.entities), arrow.Int32Traits.CastToBytes(w.entities), w.words, w.distances)
	if err != nil {
		return err
	}
	w.send(element)
	w.sent = true
	w.entities, w.words, w.distances = w.entities[:0], w.words[:0], w.distances[:0]
	return nil
}

// close sends the remaining rows. A state without rows is an empty element, so that every block and
// range is present in every round.
func (w *stateWriter) close() error {
	if len(w.entities) > 0 {
		return w.flush()
	}
	if !w.sent {
		w.send([]byte{})
	}
	return nil
}

// advance joins what a hop reached with the state. It leaves in reached what is reached for the
// first time, and calls each with every row of the new state, a view.
func advance(reached *frontier, hop uint8, states func(*[]byte) bool, each func(entity int32, word uint8, h *hops) error) error {
	inState := make([]uint64, (len(reached.bits)+63)/64)
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
		distances := record.Column(2).(*array.FixedSizeBinary)
		for row, entity := range record.Column(0).(*array.Int32).Int32Values() {
			i, err := reached.index(entity, words[row])
			if err != nil {
				return err
			}
			inState[i/64] |= 1 << (i % 64)
			h := hops(distances.Value(row))
			reached.bits[i] &^= h.reached()
			h.set(reached.bits[i], hop)
			if err := each(entity, words[row], &h); err != nil {
				return err
			}
		}
	}
	for i, sources := range reached.bits {
		if sources == 0 || inState[i/64]>>(i%64)&1 == 1 {
			continue
		}
		h := noHops
		h.set(sources, hop)
		if err := each(reached.from+int32(i/reached.width), uint8(i%reached.width), &h); err != nil {
			return err
		}
	}
	return nil
}
