package steps

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
)

// Queries of several answers (configuration.AnswersPerQuery). A fact a -r-> b is an answer of two queries, b of (a, r,
// ?) and a of (b, ~r, ?). The answers to the same source and relation are divided into chunks, at random and again in
// each round, and each chunk becomes one query. Its edges leave the graph, the edges to the answers of the other chunks
// stay: as in the graph of a test query, whose source usually has answers that are known. All at once would teach the
// model that sources have none.
//
// With at most 4 answers for each query and a share of 1/2, the 7 answers to (a, r, ?) may become the queries
//
//	(a, r, ?) of 3 answers, (a, r, ?) of 2, (a, r, ?) of 2
//
// A round draws each of the 2F queries of F facts once, in random order of the chunks, or of runs of chunks that share
// a source or a relation (Batching). An epoch is a half of it, or less with QueriesPerEpoch. A chunk that an epoch or a
// batch ends in is divided there.

// number returns the number of a source and relation, a new one for new ones.
func (k *Keys) number(source, relation int32) int32 {
	pair := [2]int32{source, relation}
	n, known := k.numbers[pair]
	if !known {
		n = int32(len(k.pairs))
		k.numbers[pair], k.pairs = n, append(k.pairs, pair)
	}
	return n
}

// joinedSchedule returns the batches of an epoch of queries of several answers.
func joinedSchedule(k Keys, c configuration.Configuration, seed uint64, epoch int) [][]Draw {
	epochs, queries := 2*epochsOfRound(k.Facts, c), 2*k.Facts // of a round
	round, part := (epoch-1)/epochs, (epoch-1)%epochs
	order := k.roundOfAnswers(c, parallel.Seed(seed, purposeAnswers, uint64(round)))
	batches := slices.Collect(slices.Chunk(slices.Clone(order[part*queries/epochs:(part+1)*queries/epochs]), c.BatchSize))
	for _, b := range batches {
		b[0].Joined = false
	}
	return batches
}

// roundOfAnswers returns all queries of the facts, chunk by chunk.
func (k *Keys) roundOfAnswers(c configuration.Configuration, seed uint64) []Draw {
	chunks := k.chunks(c, seed)
	order := make([]Draw, 0, 2*k.Facts)
	for _, i := range shuffled(len(chunks), parallel.Seed(seed, purposeOrder)) {
		order = append(order, chunks[i]...)
	}
	switch c.Batching {
	case configuration.BatchingGrouped:
		return inRuns(order, func(d Draw) int32 { return k.pairs[k.pairNumber(d)][0] }, c.BatchSize, seed)
	case configuration.BatchingRelation:
		return inRuns(order, func(d Draw) int32 {
			relation := k.pairs[k.pairNumber(d)][1]
			return max(relation, ^relation)
		}, max(1, c.BatchSize/relationsOfBatch), seed)
	}
	return order
}

// inRuns returns draws in runs of at most so many that share a key, in random order of the runs. A chunk that a run
// ends in is divided.
func inRuns(order []Draw, key func(Draw) int32, most int, seed uint64) []Draw {
	slices.SortStableFunc(order, func(a, b Draw) int { return cmp.Compare(key(a), key(b)) })
	var runs [][]Draw
	for i, d := range order {
		if last := len(runs) - 1; last >= 0 && len(runs[last]) < most && key(runs[last][0]) == key(d) {
			runs[last] = append(runs[last], d)
			continue
		}
		order[i].Joined = false
		runs = append(runs, order[i:i+1])
	}
	all := make([]Draw, 0, len(order))
	for _, i := range shuffled(len(runs), parallel.Seed(seed, purposeGroups)) {
		all = append(all, runs[i]...)
	}
	return all
}

// chunks divides the answers to each source and relation.
func (k *Keys) chunks(c configuration.Configuration, seed uint64) (chunks [][]Draw) {
	for number, answers := range k.answers() {
		n := len(answers)
		shuffle := shuffled(n, parallel.Seed(seed, purposeGroups, uint64(number)))
		drawn := make([]Draw, n)
		for i, from := range shuffle {
			drawn[i] = answers[from]
		}
		count := c.QueriesOf(n)
		for i := range count {
			chunk := drawn[i*n/count : (i+1)*n/count]
			for j := range chunk {
				chunk[j].Joined = j > 0
			}
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

// answers returns the queries of the facts by the number of their source and relation.
func (k *Keys) answers() [][]Draw {
	counts := make([]int32, len(k.pairs))
	for fact := range k.Facts {
		counts[k.Tails[fact]]++
		counts[k.Heads[fact]]++
	}
	all, groups := make([]Draw, 2*k.Facts), make([][]Draw, len(counts))
	for i, n := range counts {
		groups[i], all = all[:0:n], all[n:]
	}
	for fact := range int32(k.Facts) {
		tail, head := k.Tails[fact], k.Heads[fact]
		groups[tail] = append(groups[tail], Draw{Fact: fact})
		groups[head] = append(groups[head], Draw{Fact: fact, Inverse: true})
	}
	return groups
}

// joined returns the draws at the begin of a batch that are answers of one query.
func joined(batch []Draw) []Draw {
	n := 1
	for n < len(batch) && batch[n].Joined {
		n++
	}
	return batch[:n]
}

// join adds the answers of the further draws to the example of the first. Its answers are then ascending.
func (s TrainingSet) join(e *Example, draws []Draw, seed uint64, epoch int) {
	type answer struct {
		entity int32
		key    uint64
	}
	all := make([]answer, len(draws))
	for i, d := range draws {
		one := d.Example(s.Facts, s.BaseRelations, seed, epoch)
		all[i] = answer{one.Answer, one.Key}
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.key, b.key)) })
	e.Answer, e.Key = all[0].entity, all[0].key
	others := make(graph.Others, len(all)-1)
	e.Others, e.OtherKeys = &others, make([]uint64, len(all)-1)
	for i, a := range all[1:] {
		others[i], e.OtherKeys[i] = a.entity, a.key
	}
}
