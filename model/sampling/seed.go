package sampling

// Seed derives the seed of one element from a seed and the element's key, here a chain of
// numbers such as an epoch and a position. Equal arguments give equal seeds, and arguments
// that differ anywhere, or in their order, give unrelated ones.
func Seed(seed uint64, key ...uint64) uint64 {
	seed = scramble(seed)
	for _, k := range key {
		seed = scramble(seed + 0x9e3779b97f4a7c15 ^ scramble(k))
	}
	return seed
}

// scramble is the output function of splitmix64, a bijection.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
