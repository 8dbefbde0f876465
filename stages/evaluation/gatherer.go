package evaluation

import (
	"tagnet/formats/hop"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
)

// Counts are the sums of the ranks of a set of queries. They are integers: counts that are merged in any order and
// grouping are the same.
type Counts struct {
	Ranks     ranking.Accumulator
	Unreached int64
}

func (c *Counts) add(r answer.Result) {
	c.Ranks.Add(r.Rank)
	if r.Distance == hop.Column {
		c.Unreached++
	}
}

func (c *Counts) merge(other *Counts) {
	c.Ranks.Merge(other.Ranks)
	c.Unreached += other.Unreached
}

func (c *Counts) summary() metrics.Summary {
	return metrics.Summary{Queries: c.Ranks.Queries, Unreached: c.Unreached, Ranks: c.Ranks.Metrics()}
}

// Gatherer gathers the counts of scored shards, in any order. Its size depends on the number of relations, not of
// queries. It is an element of pipelines, where its exported fields are encoded as JSON.
type Gatherer struct {
	// Distinct is the number of distinct queries, Messages the number of messages sent.
	Distinct, Messages int64
	All                Counts
	// ByDirection, ByDistance and ByRelation have the keys of metrics.Evaluation.
	ByDirection, ByDistance, ByRelation map[string]*Counts
	// Baselines has the counts of AddBaselines.
	Baselines *AllBaselines `json:",omitempty"`
}

// NewGatherer returns a Gatherer without counts.
func NewGatherer() *Gatherer {
	return &Gatherer{ByDirection: map[string]*Counts{}, ByDistance: map[string]*Counts{}, ByRelation: map[string]*Counts{}}
}

// Add adds a shard. relations are the names of the base relations.
func (g *Gatherer) Add(s *answer.Scored, relations []string) {
	g.Messages += s.Messages
	for _, q := range s.Queries {
		g.Distinct++
		direction, relation := SplitRelation(relations, q.Relation)
		for _, r := range q.Results {
			g.All.add(r)
			entry(g.ByDirection, direction).add(r)
			entry(g.ByDistance, hop.KeyOf(r.Distance)).add(r)
			entry(g.ByRelation, relation).add(r)
		}
	}
}

// Merge adds what another Gatherer gathered.
func (g *Gatherer) Merge(other *Gatherer) {
	g.Distinct += other.Distinct
	g.Messages += other.Messages
	g.All.merge(&other.All)
	mergeAll(g.ByDirection, other.ByDirection)
	mergeAll(g.ByDistance, other.ByDistance)
	mergeAll(g.ByRelation, other.ByRelation)
	if other.Baselines != nil {
		g.baselineCounts().merge(other.Baselines)
	}
}

// Summary returns the metrics of all queries added so far.
func (g *Gatherer) Summary() metrics.Summary { return g.All.summary() }

// Metrics returns the metrics of all queries added so far, also by direction, distance and relation, and beside
// baselines where AddBaselines ranked them.
func (g *Gatherer) Metrics(split, checkpoint string) metrics.Evaluation {
	m := metrics.Evaluation{
		Split: split, Checkpoint: checkpoint, Summary: g.Summary(),
		Distinct: g.Distinct, Messages: g.Messages,
		ByDirection: summaries(g.ByDirection), ByDistance: summaries(g.ByDistance), ByRelation: summaries(g.ByRelation),
	}
	if g.Baselines != nil {
		m.ByLinks = summaries(g.Baselines.ByLinks)
		m.Baselines = &metrics.Baselines{Popularity: g.Baselines.Popularity.metrics(), Rules: g.Baselines.Rules.metrics()}
	}
	return m
}

// SplitRelation returns the direction and the name of the base relation of a relation id.
func SplitRelation(relations []string, relation int32) (direction, name string) {
	if base := int(relation) - len(relations); base >= 0 {
		return metrics.Head, relations[base]
	}
	return metrics.Tail, relations[relation]
}

// QueryName returns a base relation as a query in a direction names it: with a leading ~ where heads are the answers.
func QueryName(direction, relation string) string {
	if direction == metrics.Head {
		return "~" + relation
	}
	return relation
}

// entry returns the value of a key, which it adds as a zero value if the map has none.
func entry[C any](m map[string]*C, key string) *C {
	c := m[key]
	if c == nil {
		c = new(C)
		m[key] = c
	}
	return c
}

func mergeAll(into, from map[string]*Counts) {
	for key, counts := range from {
		entry(into, key).merge(counts)
	}
}

// each calls of with each counts, and returns the results by the same keys.
func each[M any](m map[string]*Counts, of func(*Counts) M) map[string]M {
	out := make(map[string]M, len(m))
	for key, c := range m {
		out[key] = of(c)
	}
	return out
}

func summaries(m map[string]*Counts) map[string]metrics.Summary { return each(m, (*Counts).summary) }
