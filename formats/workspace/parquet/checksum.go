package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"tagnet/formats/storage"
)

// The checksum is stored right before Parquet's footer: magic, version and the CRC-32C of the file without the
// checksum, little-endian. The footer's offsets all point before it, so other readers ignore it.
const (
	checksumMagic   = "TAGNETCK"
	checksumVersion = 1
	checksumLength  = len(checksumMagic) + 4 + 4
)

// ErrDamaged is wrapped by the errors of a file that was changed since it was written.
var ErrDamaged = errors.New("the file is cut short or damaged")

// footerStart returns the offset of the footer in a Parquet file.
func footerStart(data []byte) (int, error) {
	start, err := footerOffset(bytes.NewReader(data))
	if err != nil {
		return 0, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return int(start), nil
}

func checksum(before, after []byte) uint32 { return storage.CRC32C(storage.CRC32C(0, before), after) }

// addChecksum returns a Parquet file with its checksum inserted.
func addChecksum(data []byte) []byte {
	start, err := footerStart(data)
	if err != nil {
		panic(err) // Arrow has just written it
	}
	out := make([]byte, 0, len(data)+checksumLength)
	out = append(out, data[:start]...)
	out = append(out, checksumMagic...)
	out = binary.LittleEndian.AppendUint32(out, checksumVersion)
	out = binary.LittleEndian.AppendUint32(out, checksum(out, data[start:]))
	return append(out, data[start:]...)
}

// verifyChecksum returns an error unless a file is one that addChecksum returned.
func verifyChecksum(data []byte) error {
	start, err := footerStart(data)
	if err != nil {
		return err
	}
	at := start - checksumLength
	if at < 0 || string(data[at:at+len(checksumMagic)]) != checksumMagic {
		return fmt.Errorf("%w: it lacks the checksum that this project's Parquet files have", ErrDamaged)
	}
	if checksum(data[:start-4], data[start:]) != binary.LittleEndian.Uint32(data[start-4:]) {
		return fmt.Errorf("%w: its checksum does not match", ErrDamaged)
	}
	if version := binary.LittleEndian.Uint32(data[at+len(checksumMagic):]); version != checksumVersion {
		return fmt.Errorf("its checksum has version %d, this program reads %d", version, checksumVersion)
	}
	return nil
}
