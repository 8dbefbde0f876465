package storage

import (
	"hash/crc32"
	"io"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C returns the CRC-32C (Castagnoli) of the bytes with the CRC-32C sum, followed by p. The sum of no bytes is 0.
func CRC32C(sum uint32, p []byte) uint32 { return crc32.Update(sum, castagnoli, p) }

// CRC32CReader computes the CRC-32C of what is read through it.
type CRC32CReader struct {
	Reader io.Reader
	// Sum is the CRC32C of all bytes read so far.
	Sum uint32
}

// Read reads from Reader.
func (r *CRC32CReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.Sum = CRC32C(r.Sum, p[:n])
	return n, err
}
