package calibrate

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"tagnet/model/calibration"
)

const (
	// TopK is the number of candidates of a query.
	TopK = calibration.TopK
	// MostRows is the most rows of the split that are scored, spread evenly over all: enough for two numbers of each of
	// some hundred relations.
	MostRows = 50_000
)

// encode returns candidates as the bytes of an element.
func encode(sample []calibration.Candidate) ([]byte, error) {
	return binary.Append(nil, binary.LittleEndian, sample)
}

// decode appends the candidates of an element.
func decode(sample []calibration.Candidate, element []byte) ([]calibration.Candidate, error) {
	size := binary.Size(calibration.Candidate{})
	if len(element)%size != 0 {
		return nil, fmt.Errorf("an element of %d bytes, want a multiple of %d", len(element), size)
	}
	read := make([]calibration.Candidate, len(element)/size)
	if err := binary.Read(bytes.NewReader(element), binary.LittleEndian, read); err != nil {
		return nil, err
	}
	return append(sample, read...), nil
}
