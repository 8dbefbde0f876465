package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"tagnet/formats/storage"
)

// The trailer lies between the last record batch and Arrow's footer, little-endian: an
// entry for each block, then the tail.
const (
	arrowMagic    = "ARROW1"
	endLength     = 4 + len(arrowMagic) // footer length and magic, the last bytes of a file
	headerStart   = 8                   // the magic, padded
	entryLength   = 32                  // offset, length, key int64; rows, checksum uint32
	tailLength    = 24                  // version, blocks, checksum, zero uint32; trailer magic
	trailerMagic  = "TAGNETCK"
	formatVersion = 1
)

func crc(p []byte) uint32 { return storage.CRC32C(0, p) }

// errDamaged is wrapped by every error of a file that was changed since it was written.
var errDamaged = errors.New("the file is cut short or damaged; remove it and make it again")

func damaged(format string, arguments ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, arguments...), errDamaged)
}

// block says where one record batch lies in a file. An entry of the trailer has its fields in this order.
type block struct {
	Offset, Length int64
	// Key is the first source of the batch in a distance table, the first query in a table of parts, else 0.
	Key      int64
	Rows     uint32
	Checksum uint32 // CRC-32C of its bytes
}

// tail returns the end of the trailer; the checksum is over everything outside of the blocks.
func tail(blocks int, checksum uint32) []byte {
	t, _ := binary.Append(nil, binary.LittleEndian, [4]uint32{formatVersion, uint32(blocks), checksum, 0})
	return append(t, trailerMagic...)
}

// frameChecksum returns the CRC-32C of all bytes outside of the blocks: the header, the trailer with
// zeros for its checksum, and the footer to the end of the file.
func frameChecksum(header, entries []byte, blocks int, footer []byte) uint32 {
	sum := crc(header)
	sum = storage.CRC32C(sum, entries)
	sum = storage.CRC32C(sum, tail(blocks, 0))
	return storage.CRC32C(sum, footer)
}

// frame is the part of a file that is read before any batch.
type frame struct {
	schema []byte // the schema as an IPC message
	blocks []block
	rows   int64
}

// readFrame reads and verifies everything outside of the blocks.
func readFrame(file io.ReaderAt, size int64) (frame, error) {
	if size < int64(headerStart+tailLength+endLength) {
		return frame{}, damaged("%d bytes are no Arrow file", size)
	}
	// The last bytes give the length of the footer; the trailer ends where the footer begins.
	end, err := readAt(file, size-int64(endLength), int64(endLength))
	if err != nil {
		return frame{}, err
	}
	if string(end[4:]) != arrowMagic {
		return frame{}, damaged("its end is not that of an Arrow file")
	}
	footerStart := size - int64(endLength) - int64(binary.LittleEndian.Uint32(end))
	if footerStart < int64(headerStart+tailLength) {
		return frame{}, damaged("its footer is longer than the file")
	}
	entries, tailSum, err := readTrailer(file, footerStart)
	if err != nil {
		return frame{}, err
	}
	// The blocks follow one another from the header to the trailer.
	trailerStart := footerStart - tailLength - int64(len(entries))
	f := frame{blocks: make([]block, len(entries)/entryLength)}
	headerEnd := trailerStart
	at := int64(-1)
	for i := range f.blocks {
		b := &f.blocks[i]
		_, _ = binary.Decode(entries[i*entryLength:], binary.LittleEndian, b) // entries are whole
		if i == 0 {
			headerEnd, at = b.Offset, b.Offset
		}
		if b.Offset != at || b.Offset < headerStart || b.Length <= 0 || b.Length > trailerStart-at {
			return frame{}, damaged("batch %d is not where its trailer says", i)
		}
		at += b.Length
		f.rows += int64(b.Rows)
	}
	if len(f.blocks) > 0 && at != trailerStart {
		return frame{}, damaged("%d bytes belong to no batch", trailerStart-at)
	}
	// The checksum covers what is left: header, trailer and footer.
	header, err := readAt(file, 0, headerEnd)
	if err != nil {
		return frame{}, err
	}
	footer, err := readAt(file, footerStart, size-footerStart)
	if err != nil {
		return frame{}, err
	}
	if frameChecksum(header, entries, len(f.blocks), footer) != tailSum {
		return frame{}, damaged("its checksum does not match")
	}
	if string(header[:len(arrowMagic)]) != arrowMagic {
		return frame{}, damaged("its beginning is not that of an Arrow file")
	}
	f.schema = header[headerStart:]
	return f, nil
}

// readTrailer returns the entries of all blocks and the checksum in the tail.
func readTrailer(file io.ReaderAt, footerStart int64) (entries []byte, checksum uint32, err error) {
	t, err := readAt(file, footerStart-tailLength, tailLength)
	if err != nil {
		return nil, 0, err
	}
	if string(t[16:]) != trailerMagic {
		return nil, 0, damaged("it has no checksum, as this project's Arrow files have")
	}
	if version := binary.LittleEndian.Uint32(t); version != formatVersion {
		return nil, 0, damaged("its trailer has version %d, this program reads %d", version, formatVersion)
	}
	checksum = binary.LittleEndian.Uint32(t[8:])
	if !bytes.Equal(t, tail(int(binary.LittleEndian.Uint32(t[4:])), checksum)) {
		return nil, 0, damaged("its trailer has something where nothing belongs")
	}
	length := int64(binary.LittleEndian.Uint32(t[4:])) * entryLength
	if length > footerStart-tailLength-headerStart {
		return nil, 0, damaged("its trailer is longer than the file")
	}
	entries, err = readAt(file, footerStart-tailLength-length, length)
	return entries, checksum, err
}

// readAt reads a range that lies within the file.
func readAt(file io.ReaderAt, offset, length int64) ([]byte, error) {
	p := make([]byte, length)
	n, err := file.ReadAt(p, offset)
	if int64(n) == length {
		return p, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, damaged("%d bytes are missing", length-int64(n))
	}
	return nil, err
}
