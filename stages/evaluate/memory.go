package evaluate

// Memory bounds the bytes that writing takes for that many queries, with the best candidates
// of each: 400 a query and 300 a candidate, which are there encoded, decoded, as rows with room
// to grow, and as columns.
func Memory(queries, best int) int64 {
	return int64(queries) * int64(400+300*best)
}
