package calibrate

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"tagnet/model/calibration"
	"tagnet/model/ranker"
)

const (
	// TopK is the number of candidates of a query: as many as score keeps by default.
	TopK = 10
	// MostRows is the most rows of the split that are scored, spread evenly over all: enough for two numbers of each of
	// some hundred relations.
	MostRows = 50_000
)

// sample returns the candidates of scored queries, of whose answers the known ones stand beside TopK new ones.
func sample(scored *ranker.Scored) []calibration.Candidate {
	var sample []calibration.Candidate
	for _, q := range scored.Queries {
		kept := 0
		for c, isTrue := range q.Compared() {
			if kept == TopK {
				break
			}
			kept++
			sample = append(sample, calibration.Candidate{Query: q.Row, Relation: q.Relation, Score: c.Score, True: isTrue})
		}
	}
	return sample
}

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
