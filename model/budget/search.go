package budget

import "tagnet/model/weights/configuration"

// Words are how many words of 64 sources a search may take at once, the most first.
var Words = []int{8, 4, 2, 1}

// Search estimates searches from many sources, from so many words of them at once, of which so many rows are in memory.
// With a reach parts of the graph are found as well.
func Search(s Sizes, task string, words, reach int, rows int64) Estimate {
	const perWord = 120 // reached, now and in all; half a byte of distance for each source, until they are written in order
	_, found := s.within(configuration.Configuration{Reach: reach})
	return Estimate{
		Task:   task,
		Held:   s.Graph + 8*s.Entities + 4*s.Edges + 32*s.Queries + 12*s.Sources + 280*rows + 5*MiB, // neighbors and a table, too
		Thread: found + (perWord*int64(words)+33)*s.Entities + MiB,
	}
}

// Widest returns the most words with which every core has a thread within a budget of bytes, or 1.
func Widest(estimate func(words int) Estimate, budget int64, cores int) int {
	for _, words := range Words {
		if p, err := estimate(words).Allot(budget, 0, cores); err == nil && p.Threads >= cores {
			return words
		}
	}
	return 1
}

// Preprocess estimates preprocessing a dataset of so many distinct names: a hash table of 16 bytes a slot, four fifths
// full, and buffers of text and of spill files.
func Preprocess(names int64) Estimate {
	return Estimate{Task: "preprocessing", Held: 20 * names, Thread: 20 * MiB}
}

// runnerCopies is how many copies of an element a pipeline in this process holds: what a step reads, and what it has
// made of it.
const runnerCopies = 2

// Parts estimates finding the parts of a split's queries, perFile of them in a file, from a graph whose edges are in so
// many files. A part has about so many bytes as elements of a pipeline.
func Parts(s Sizes, c configuration.Configuration, perFile, files int64) (e Estimate, part int64) {
	within, found := s.within(c)
	part = 80*within.Entities + 3*within.Edges/2
	block := (20*s.Edges+8*s.Entities)/max(1, files) + 8*within.Edges
	return Estimate{
		Task:   "finding parts of the graph",
		Held:   76*s.Queries + runnerCopies*perFile*part,
		Thread: max(block, found, perFile*part+16*within.Edges) + 8*MiB,
	}, part
}

// Waves returns how many files a pipeline in this process may work on at a time, with an allotment for Parts with a
// guess, if a part has so many bytes.
func (a Allotment) Waves(perFile, guess, part int64) int {
	return int(max(1, (a.Free/runnerCopies+perFile*guess)/max(1, perFile*part)))
}
