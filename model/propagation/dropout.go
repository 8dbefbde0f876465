package propagation

import (
	"math"

	"tagnet/model/kernel"
)

// dropout says which dimensions of a node update are kept. The draw depends on the seed of
// the query, the layer and the entity alone: not on where the entity stands, nor on which
// worker computes it.
type dropout struct {
	threshold uint16 // a dimension is kept where its 16 bits are at least this
	scale     float32
}

// newDropout keeps a dimension with probability 1 - p (in steps of 1/65536) and scales what
// it keeps so that the expectation stays.
func newDropout(p float64) dropout {
	threshold := min(math.Round(p*65536), 65535)
	return dropout{threshold: uint16(threshold), scale: float32(65536 / (65536 - threshold))}
}

// of is what a layer's masks are drawn by, for the query of that seed.
func (d dropout) of(seed uint64, layer int) kernel.Dropout {
	return kernel.Dropout{Seed: seed, Layer: layer, Threshold: d.threshold}
}
