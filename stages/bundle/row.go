package bundle

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"tagnet/formats/tables"
)

// A distance row is, per entity, the hops from one source: 4 bits each, as formats/tables packs
// them, and then compressed by zstd on its own, so that any row of a bundle can be read without
// the others.

var rowEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
})

// EncodeRow compresses packed distances. Equal rows give equal bytes.
func EncodeRow(packed []byte) ([]byte, error) {
	encoder, err := rowEncoder()
	if err != nil {
		return nil, fmt.Errorf("compressing a distance row: %w", err)
	}
	return encoder.EncodeAll(packed, nil), nil
}

// RowReader reads rows. It holds one row's packed bytes, and serves one goroutine.
type RowReader struct {
	decoder *zstd.Decoder
	packed  []byte
}

// NewRowReader returns a reader of rows over that many entities.
func NewRowReader(entities int) (*RowReader, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("decompressing a distance row: %w", err)
	}
	return &RowReader{decoder: decoder, packed: make([]byte, 0, (entities+1)/2)}, nil
}

// Read sets distances, one entry per entity, to the row's hops; 255 is unreached.
func (r *RowReader) Read(row []byte, distances []uint8) error {
	packed, err := r.decoder.DecodeAll(row, r.packed[:0])
	if err != nil {
		return fmt.Errorf("decompressing a distance row: %w", err)
	}
	if want := (len(distances) + 1) / 2; len(packed) != want {
		return fmt.Errorf("decompressing a distance row: %d bytes where %d entities need %d", len(packed), len(distances), want)
	}
	tables.Unpack(packed, distances)
	return nil
}
