package propagation

import "math"

// dropout draws which dimensions of a node update are kept. The draw depends on the seed of
// the query, the layer and the entity alone: not on where the entity stands, nor on which
// worker computes it.
type dropout struct {
	threshold uint64 // of 16 bits; a dimension is kept where its bits are at least this
	scale     float32
}

// newDropout keeps a dimension with probability 1 - p (in steps of 1/65536) and scales what
// it keeps so that the expectation stays.
func newDropout(p float64) dropout {
	threshold := min(math.Round(p*65536), 65535)
	return dropout{threshold: uint64(threshold), scale: float32(65536 / (65536 - threshold))}
}

// draw fills the words of one row: a bit per dimension, set where it is kept.
func (d dropout) draw(seed uint64, layer int, entity int32, kept []uint32) {
	state := mix(seed ^ mix(uint64(layer)<<32|uint64(uint32(entity))))
	for word := range kept {
		bits := uint32(0)
		for four := 0; four < 32; four += 4 {
			state += 0x9e3779b97f4a7c15
			random := mix(state)
			for lane := range 4 {
				if random>>(16*lane)&0xffff >= d.threshold {
					bits |= 1 << (four + lane)
				}
			}
		}
		kept[word] = bits
	}
}

// mix is the finalizer of SplitMix64 (Steele et al., OOPSLA 2014): every bit of the result
// depends on every bit of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
