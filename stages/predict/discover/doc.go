// Package discover is the stage that makes one list of new facts of all entities (model/answer/discovery). Three
// transforms follow each other, each in a pipeline of its own:
//
//   - Candidates scores queries, in one direction or both. A worker writes the best new answers of its shard to spill
//     files: as facts, and as answers of queries, listed ones and those wanted of other queries. An index of all spill
//     files is the last file.
//   - Backward merges the answers, so that those which a query lists meet those which are wanted of it, and asks what
//     is missing. Its answers are facts in spill files, too.
//   - List merges the facts, so that the two sides of each meet, judges them, and lists the surest.
//
// Records are divided by an entity: facts by their head, answers by the source of their query. Each of Ranges ranges is
// a task, whatever the number of workers. Memory holds a shard of answers, the best facts of a range, and a part of the
// list; disk holds discovery.CandidateBytes for each candidate of a query.
package discover
