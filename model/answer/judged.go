package answer

import (
	"slices"

	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Judged are facts that people said to be true or false. They are no new answers; ranks, fits and the graph stay as
// they are. A nil one has none.
type Judged struct {
	// SHA256 is the hash of the file of verdicts.
	SHA256 string
	isTrue map[graph.Fact]bool
	// of has them as answers of their two queries, ascending; most is the most of one query.
	of   map[graph.Query][]int32
	most int
	// answered are the queries of true ones.
	answered map[graph.Query]bool
}

// Verdict says what a person said of a fact.
type Verdict int8

// The verdicts.
const (
	NotJudged Verdict = iota
	JudgedTrue
	JudgedFalse
)

// String returns true, false, or nothing.
func (v Verdict) String() string { return [...]string{"", "true", "false"}[v] }

// NewJudged returns judged facts of a graph with so many base relations, by whether they are true.
func NewJudged(isTrue map[graph.Fact]bool, baseRelations int) *Judged {
	j := &Judged{isTrue: isTrue, of: map[graph.Query][]int32{}, answered: map[graph.Query]bool{}}
	for f, is := range isTrue {
		tails, heads := f.Queries(int32(baseRelations))
		for _, asked := range []graph.Query{tails, heads} {
			q := plainQuery(asked)
			j.of[q] = append(j.of[q], asked.Answer)
			j.most = max(j.most, len(j.of[q]))
			j.answered[q] = j.answered[q] || is
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

// Verdict returns what is said of a fact.
func (j *Judged) Verdict(f graph.Fact) Verdict {
	if j == nil {
		return NotJudged
	}
	switch is, judged := j.isTrue[f]; {
	case !judged:
		return NotJudged
	case is:
		return JudgedTrue
	}
	return JudgedFalse
}

// has reports whether a fact is judged.
func (j *Judged) has(f graph.Fact) bool { return j.Verdict(f) != NotJudged }

// More returns how many more answers than wanted a query has to list, so that enough are not judged.
func (j *Judged) More() int {
	if j == nil {
		return 0
	}
	return j.most
}

// withKnown returns the known answers of a query and those that are judged, ascending.
func (j *Judged) withKnown(q graph.Query, known []int32) []int32 {
	if j == nil || len(j.of[plainQuery(q)]) == 0 {
		return known
	}
	all := append(slices.Clone(known), j.of[plainQuery(q)]...)
	slices.Sort(all)
	return slices.Compact(all)
}

// answers reports whether a true fact answers a query.
func (j *Judged) answers(q graph.Query) bool { return j != nil && j.answered[plainQuery(q)] }

// SHA returns the hash of the file of verdicts, "" without one.
func (j *Judged) SHA() string {
	if j == nil {
		return ""
	}
	return j.SHA256
}

// Judge makes facts judged, in place of those that were; nil makes none.
func (m *Model) Judge(j *Judged) { m.judged.Store(j) }

// Judged returns the facts that are judged.
func (m *Model) Judged() *Judged { return m.judged.Load() }

// oneAnswer reports whether at most one new answer of a query is true: as far as the graph tells, and no judged
// fact is its answer.
func (m *Model) oneAnswer(e *probability.Estimator, q graph.Query) bool {
	return e != nil && e.OneAnswer(q) && !m.Judged().answers(q)
}

// rivalQueries returns the queries of which a fact is one of several new answers, while one at most is true.
func (m *Model) rivalQueries(e *probability.Estimator, f graph.Fact, p float64) (queries []graph.Query) {
	for _, q := range e.Rivals(f, p) {
		if !m.Judged().answers(q) {
			queries = append(queries, q)
		}
	}
	return queries
}
