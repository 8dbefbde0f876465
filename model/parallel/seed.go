package parallel

// Seed derives the seed of one element from a seed and the element's key, a chain of numbers such
// as an epoch and a position. Equal arguments give equal seeds; arguments that differ anywhere, or
// in their order, give unrelated ones.
func Seed(seed uint64, key ...uint64) uint64 {
	seed = Mix(seed)
	for _, k := range key {
		seed = Mix(seed + step ^ Mix(k))
	}
	return seed
}

// step is the increment of SplitMix64 (Steele et al., OOPSLA 2014).
const step = 0x9e3779b97f4a7c15

// Mix is the output function of SplitMix64, a bijection: inputs that differ in one bit give
// outputs that differ in about half of their bits.
func Mix(x uint64) uint64 {
	x += step
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
