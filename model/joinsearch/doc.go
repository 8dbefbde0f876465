// Package joinsearch searches breadth-first a graph that no worker holds: it has the steps of a join over the shards of edges, one round per
// hop. Sources are searched in blocks of up to 512, entities are split into equal ranges, and a key is a pair of a
// block and a range. Two kinds of elements lead from one round to the next:
//
//   - the frontier: which sources reached which entities in the last hop, a row of 13 bytes for
//     each entity and 64 sources, merged by entity before it is sent;
//   - the state: the distances so far, 4 bits each, a row of 37 bytes for each entity and 64
//     sources of which any reaches it.
//
// A thread has one range of a block in memory, and a chunk of the range's edges (see budget.Join).
// After the last round the states are transposed to rows by source.
// Example: a path 0 - 1 - 2 - 3, source 0, ranges {0, 1} and {2, 3}.
// The seed is the frontier {0} of the first range. Round 0 stores distance 0 for entity 0 and
// emits its neighbor 1 to the first range. Round 1 stores 1 for entity 1; of its neighbors, 0 is
// reached already, and 2 goes to the second range. Round 2 stores 2 for entity 2, and so on.
//
// Layout.Plan chooses the ranges, blocks and chunks by a memory budget. Beam's local runner has what
// crosses a barrier in its own process several times, so for it Plan also chooses how many blocks
// are searched in one pipeline; other runners search all at once.
package joinsearch
