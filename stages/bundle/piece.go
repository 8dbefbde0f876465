package bundle

import "tagnet/model/engine/parts"

// piece holds the edges of a part that lie in one block of the graph, and their entities' known answers.
type piece struct {
	search, block int
	parts.Subgraph
	known       []int32 // answers, of one relation after the other
	knownCounts []int32 // how many of known each relation has
}

func (p *piece) encode() []byte {
	var e encoder
	e.numbers(p.search, p.block)
	lists(&e, p.Offsets)
	lists(&e, p.Senders, p.Relations, p.Degrees, p.known, p.knownCounts)
	return e.bytes
}

// pieceOf returns the key of the search that a piece belongs to.
func pieceOf(element []byte) int { return int((&decoder{bytes: element}).number()) }

// decodePiece is the inverse of encode.
func decodePiece(element []byte) (piece, error) {
	d := &decoder{bytes: element}
	p := piece{search: int(d.number()), block: int(d.number())}
	p.Offsets, p.Senders, p.Relations, p.Degrees = listOf[int64](d), listOf[int32](d), listOf[int32](d), listOf[int32](d)
	p.known, p.knownCounts = listOf[int32](d), listOf[int32](d)
	if d.err == nil && len(p.Offsets) == 0 {
		d.err = errElement
	}
	return p, d.err
}
