package kg

import (
	"tagnet/formats/tables"
)

// Memory returns the bytes of the loaded graph, of that many queries, and of the known answers in use:
//
//	edges      8 an entity and 8 an edge (see model/graph)
//	names      16 each, and their text
//	queries    16 each, read once
//	answers    32 a query, and 4 an answer
func (k *KG) Memory(queries int, known ...tables.Answers) int64 {
	const fixed = 1 << 18 // the manifest, and what the allocator rounds up
	total := fixed + namesMemory(k.Relations) + 16*int64(queries)
	for _, a := range known {
		total += answersMemory(a)
	}
	for i, v := range []*View{k.Train, k.Inference} {
		if i > 0 && !k.Inductive() {
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
