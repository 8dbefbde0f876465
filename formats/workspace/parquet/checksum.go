package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The checksum is stored right before Parquet's footer: magic, version and the CRC-32C of the file
// without the checksum, little-endian. The footer's offsets all point before it, so other readers
// ignore it.
const (
	checksumMagic   = "TAGNETCK"
	checksumVersion = 1
	checksumLength  = len(checksumMagic) + 4 + 4
	parquetMagic    = "PAR1"
	endLength       = 4 + len(parquetMagic) // footer length and magic
)

// ErrDamaged is wrapped by the errors of a file that was changed since it was written.
var ErrDamaged = errors.New("the file is cut short or damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// footerStart returns the offset of the footer in a Parquet file.
func footerStart(data []byte) (int, error) {
	if len(data) < len(parquetMagic)+endLength || string(data[len(data)-len(parquetMagic):]) != parquetMagic {
		return 0, fmt.Errorf("%w: its end is not that of a Parquet file", ErrDamaged)
	}
	length := int64(binary.LittleEndian.Uint32(data[len(data)-endLength:]))
	start := int64(len(data)) - int64(endLength) - length
	if start < int64(len(parquetMagic)) {
		return 0, fmt.Errorf("%w: its footer is longer than the file", ErrDamaged)
	}
	return int(start), nil
}

func checksum(before, after []byte) uint32 {
	return crc32.Update(crc32.Checksum(before, castagnoli), castagnoli, after)
}

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
	if at < len(parquetMagic) || string(data[at:at+len(checksumMagic)]) != checksumMagic {
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
