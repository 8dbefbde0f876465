package propagation

import (
	"math"

	"tagnet/model/engine/kernel"
)

// dropout draws the masks of node updates. A mask depends on the seed of the query, the layer and the
// entity alone: neither on the entity's row nor on the worker that computes it.
type dropout struct {
	threshold uint16 // a dimension is kept where its 16 bits are at least this
	scale     float32
}

// newDropout returns a dropout that keeps a dimension with probability 1 - p (in steps of 1/65536),
// and scales what it keeps so that the expectation does not change.
func newDropout(p float64) dropout {
	threshold := min(math.Round(p*65536), 65535)
	return dropout{threshold: uint16(threshold), scale: float32(65536 / (65536 - threshold))}
}

// of returns the arguments of a layer's masks for the query with a seed.
func (d dropout) of(seed uint64, layer int) kernel.Dropout {
	return kernel.Dropout{Seed: seed, Layer: layer, Threshold: d.threshold}
}
