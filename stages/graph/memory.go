package graph

import (
	"tagnet/formats/tables"
)

// Memory is the bytes of what was loaded, and of the split's queries:
//
//	edges      8 an entity and 8 an edge (see model/graph)
//	names      16 each, and their letters
//	answers    32 a question, and 4 an answer; those of training beside those of all splits
//	queries    16 each, read once
func (l *Loaded) Memory(queries int) int64 {
	const beside = 1 << 17 // the manifest, and what the allocator rounds up
	total := beside + namesMemory(l.Relations) + answersMemory(l.TrainAnswers) + 16*int64(queries)
	for i, v := range []*View{l.Train, l.Inference} {
		if i > 0 && !l.Inductive() {
			break
		}
		total += v.Graph.Memory() + namesMemory(v.Entities) + answersMemory(v.Answers)
	}
	return total
}

// namesMemory counts letters as the allocator gives them out: 8 at a time.
func namesMemory(names []string) int64 {
	total := 16 * int64(len(names))
	for _, name := range names {
		total += int64(len(name)+15) / 8 * 8
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
