package answer

import (
	"cmp"
	"slices"

	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/rules"
	"tagnet/model/graph"
)

// Judged are facts that people said to be true or false. They are no new answers; ranks, fits and the graph stay as
// they are.
type Judged struct {
	// SHA256 is the hash of the file of verdicts, "" without one.
	SHA256    string
	judgments map[graph.Fact]verdicts.Judgment
	// of has them as answers of their two queries, ascending; most is the most of one query.
	of   map[graph.Query][]int32
	most int
	// answered are the queries of true ones.
	answered map[graph.Query]bool
}

// NewJudged returns judged facts of a graph with so many base relations.
func NewJudged(said []Said, baseRelations int) *Judged {
	j := &Judged{judgments: map[graph.Fact]verdicts.Judgment{}, of: map[graph.Query][]int32{}, answered: map[graph.Query]bool{}}
	for _, s := range said {
		if j.judgments[s.Fact] = verdicts.False; s.True {
			j.judgments[s.Fact] = verdicts.True
		}
		tails, heads := s.Queries(int32(baseRelations))
		for _, asked := range []graph.Query{tails, heads} {
			q := plainQuery(asked)
			j.of[q] = append(j.of[q], asked.Answer)
			j.most = max(j.most, len(j.of[q]))
			j.answered[q] = j.answered[q] || s.True
		}
	}
	for _, answers := range j.of {
		slices.Sort(answers)
	}
	return j
}

// plainQuery returns a query without its answer.
func plainQuery(q graph.Query) graph.Query {
	return graph.Query{Source: q.Source, Relation: q.Relation, Answer: graph.None}
}

// Stated returns the answers of a query that are facts, ascending: known ones that are not judged false, and those that
// are judged true.
func (j *Judged) Stated(q graph.Query, known []int32, baseRelations int) []int32 {
	if len(j.of[plainQuery(q)]) == 0 {
		return known
	}
	return slices.DeleteFunc(j.WithKnown(q, known), func(answer int32) bool {
		_, is := slices.BinarySearch(known, answer)
		judgment := j.Verdict(q.Fact(answer, int32(baseRelations)))
		return judgment == verdicts.False || !is && judgment != verdicts.True
	})
}

// Verdict returns what is said of a fact: true, false, or nothing.
func (j *Judged) Verdict(f graph.Fact) verdicts.Judgment { return j.judgments[f] }

// More returns how many more answers than wanted a query has to list, so that enough are not judged.
func (j *Judged) More() int { return j.most }

// WithKnown returns the known answers of a query and those that are judged, ascending.
func (j *Judged) WithKnown(q graph.Query, known []int32) []int32 {
	judged := j.of[plainQuery(q)]
	if len(judged) == 0 {
		return known
	}
	all := slices.Concat(known, judged)
	slices.Sort(all)
	return slices.Compact(all)
}

// answers reports whether a true fact answers a query.
func (j *Judged) answers(q graph.Query) bool { return j.answered[plainQuery(q)] }

// noneJudged stands for nil in a model.
var noneJudged = &Judged{}

// Judge makes facts judged, in place of those that were; nil makes none.
func (m *Model) Judge(j *Judged) { m.judged.Store(j) }

// Judged returns the facts that are judged; it is never nil.
func (m *Model) Judged() *Judged { return cmp.Or(m.judged.Load(), noneJudged) }

// OneAnswer reports whether at most one new answer of a query is true: as far as the graph tells, and no judged fact is
// its answer.
func (m *Model) OneAnswer(e *probability.Estimator, q graph.Query) bool {
	return e.OneAnswer(q) && !m.Judged().answers(q)
}

// givenVerdicts returns the probability p of a fact, reduced where it answers a query of which one answer at most is
// true, and another fact was judged to be it: then the fact is true only where the relation has several.
func (m *Model) givenVerdicts(e *probability.Estimator, f graph.Fact, p float64) float64 {
	j := m.Judged()
	if len(j.answered) == 0 || j.Verdict(f) == verdicts.True {
		return p
	}
	tails, heads := f.Queries(int32(m.Graph.BaseRelations))
	if e.OneAnswer(tails) && j.answers(tails) || e.OneAnswer(heads) && j.answers(heads) {
		p *= rules.Several
	}
	return p
}
