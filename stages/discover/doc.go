// Package discover is the stage that makes one list of new facts of all entities (model/discovery). Three transforms follow each
// other, each in a pipeline of its own:
//
//   - Candidates scores queries in both directions. A worker writes the listed answers of its shard, sorted as facts and cut by
//     ranges of heads, to a spill file; an index of all spill files is the last file.
//   - Fit merges the spill files of a range, so that the two answers that are one fact meet, draws a sample for the regression,
//     and merges them again for the curve of probabilities. The spill files are those of a graph that has validation facts.
//   - List merges them twice: to find where the list ends, and to collect it.
//
// Memory holds a shard of answers, the sample, and the list; disk holds 32 bytes for each answer that is listed.
package discover
