package vocabulary

import (
	"tagnet/formats/externalsort"
	"tagnet/model/budget"
)

// idBytes is what the id of a name takes: a slot of 16 bytes, and a fifth of the slots are free.
const idBytes = 20

// threadBytes is what a step takes beside names and rows: the buffers of the text, of the runs
// that it writes or of the externalsort.FanIn that it merges, and the batch of a table as it is made,
// encoded and packed.
const threadBytes = 48 * budget.MiB

// Memory is the bytes of the ids of so many names.
func Memory(names int64) int64 { return idBytes * names }

// Need is what a worker process takes that knows the ids of so many names. What is left, as
// bundles, is room for names or rows that are being sorted: see Room.
func Need(names int64) budget.Need {
	return budget.Need{Fixed: []budget.Part{{Name: "ids of names", Bytes: Memory(names)}}, Thread: threadBytes}
}

// Room is how many bytes each thread may take for what it sorts: what is left, or less where less
// is asked for; 0 asks for nothing.
func Room(share budget.Share, asked int64) int64 {
	left := budget.BundlesHeld * share.Bundle / int64(share.Threads)
	if asked > 0 {
		return min(asked, left)
	}
	return left
}

// Rows is how many rows may be sorted at a time in room of so many bytes, at least those of a fact.
func Rows(room int64) int { return int(max(2, room/(2*externalsort.RowBytes))) }
