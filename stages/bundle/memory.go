package bundle

// Memory bounds the bytes that bundling holds of a split beside its bundles: 24 a query and 48 a
// question (as many as queries at most), twice while they are cut, and for each thread a search,
// of 10 bytes an entity.
func Memory(queries int, entities, threads int) int64 {
	return 2*(24+48)*int64(queries) + 10*int64(entities)*int64(threads)
}
