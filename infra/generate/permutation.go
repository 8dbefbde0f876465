package main

import "math/bits"

// mix is a finalizer that spreads every bit of a number over all others (splitmix64's).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform returns a number in [0, 1) that depends only on the seed and two numbers.
func uniform(seed, a, b uint64) float64 {
	return float64(mix(mix(seed^mix(a+0x9e3779b97f4a7c15))^b)>>11) / (1 << 53)
}

// permutation is a random order of 0..size-1 that takes no memory: a Feistel network over the
// next even number of bits, applied until the result is in range.
type permutation struct {
	seed, size uint64
	half       int // bits of a half
}

func newPermutation(seed, size uint64) permutation {
	return permutation{seed: seed, size: size, half: max(1, (bits.Len64(size-1)+1)/2)}
}

// of returns the position of i, below size.
func (p permutation) of(i uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	for {
		left, right := i>>p.half, i&mask
		for round := range uint64(4) {
			left, right = right, left^mix(right^p.seed+round*0x9e3779b97f4a7c15)&mask
		}
		if i = left<<p.half | right; i < p.size {
			return i
		}
	}
}
