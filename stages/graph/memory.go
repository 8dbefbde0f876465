package graph

import (
	"tagnet/formats/tables"
)

// Memory is the bytes of what was loaded, of queries, and of the known answers that are used:
//
//	edges      8 an entity and 8 an edge (see model/graph)
//	names      16 each, and their letters
//	queries    16 each, read once
//	answers    32 a question, and 4 an answer
func (l *Loaded) Memory(queries int, known ...tables.Answers) int64 {
	const beside = 1 << 18 // the manifest, and what the allocator rounds up
	total := beside + namesMemory(l.Relations) + 16*int64(queries)
	for _, a := range known {
		total += answersMemory(a)
	}
	for i, v := range []*View{l.Train, l.Inference} {
		if i > 0 && !l.Inductive() {
			break
		}
		total += v.Graph.Memory() + namesMemory(v.Entities)
	}
	return total
}

func namesMemory(names []string) int64 {
	total := 16 * int64(len(names))
	for _, name := range names {
		total += int64(len(name))
	}
	return total
}

func answersMemory(a tables.Answers) int64 {
	total := 32 * int64(a.Len())
	for _, list := range a.Lists {
		total += 4 * int64(len(list))
	}
	return total
}
