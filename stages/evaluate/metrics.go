package evaluate

import (
	"strconv"

	"tagnet/model/ranking"
	"tagnet/stages/score"
)

// The directions of a query: whether its answer is the tail or the head of a fact.
const (
	Tail = "tail"
	Head = "head"
)

// OutOfReach is the key in metrics.json of the distance of unreached answers.
const OutOfReach = "unreached"

// Summary is the metrics of a set of queries.
type Summary struct {
	Queries int64 `json:"queries"`
	// Unreached is the number of queries whose answer no message reaches.
	Unreached int64 `json:"unreached"`
	// Tied is the fraction of queries whose answer has exactly the score of another candidate.
	Tied        float64         `json:"tied"`
	Pessimistic ranking.Metrics `json:"pessimistic"`
	Mean        ranking.Metrics `json:"mean"`
	Optimistic  ranking.Metrics `json:"optimistic"`
}

// Metrics is the content of metrics.json.
type Metrics struct {
	Split      string `json:"split"`
	Checkpoint string `json:"checkpoint"`
	Summary
	// Distinct is the number of distinct pairs (source, relation), each propagated once.
	Distinct int64 `json:"distinct"`
	// Messages is the number of messages that the propagations sent.
	Messages int64 `json:"messages"`
	// ByDirection has the keys Tail and Head, ByDistance "0", "1", ... and OutOfReach, and ByRelation
	// the names of base relations. Keys without queries are left out.
	ByDirection map[string]Summary `json:"by_direction"`
	ByDistance  map[string]Summary `json:"by_distance"`
	ByRelation  map[string]Summary `json:"by_relation"`
}

// gathered accumulates a Summary.
type gathered struct {
	ranks     ranking.Accumulator
	unreached int64
}

func (g *gathered) add(r score.Result) {
	g.ranks.Add(r.Rank)
	if r.Distance == score.Unreached {
		g.unreached++
	}
}

func (g *gathered) summary() Summary {
	return Summary{
		Queries: g.ranks.Queries, Unreached: g.unreached, Tied: g.ranks.TiedShare(),
		Pessimistic: g.ranks.Pessimistic.Metrics(),
		Mean:        g.ranks.Mean.Metrics(),
		Optimistic:  g.ranks.Optimistic.Metrics(),
	}
}

// Gatherer accumulates the metrics of scored bundles, in any order.
type Gatherer struct {
	relations                           []string
	distinct, messages                  int64
	all                                 gathered
	byDirection, byDistance, byRelation map[string]*gathered
}

// NewGatherer returns a Gatherer, given the names of the base relations.
func NewGatherer(relations []string) *Gatherer {
	return &Gatherer{
		relations:   relations,
		byDirection: map[string]*gathered{}, byDistance: map[string]*gathered{}, byRelation: map[string]*gathered{},
	}
}

// Add adds a bundle.
func (g *Gatherer) Add(s *score.Scored) {
	g.messages += s.Messages
	for _, q := range s.Queries {
		g.distinct++
		direction, relation := Directed(g.relations, q.Relation)
		for _, r := range q.Results {
			g.all.add(r)
			entry(g.byDirection, direction).add(r)
			entry(g.byDistance, distanceKey(r.Distance)).add(r)
			entry(g.byRelation, relation).add(r)
		}
	}
}

// Summary returns the metrics of all queries added so far.
func (g *Gatherer) Summary() Summary { return g.all.summary() }

// Metrics returns the metrics of all queries added so far, also by direction, distance and relation.
func (g *Gatherer) Metrics(split, checkpoint string) Metrics {
	return Metrics{
		Split: split, Checkpoint: checkpoint, Summary: g.Summary(),
		Distinct: g.distinct, Messages: g.messages,
		ByDirection: summaries(g.byDirection), ByDistance: summaries(g.byDistance), ByRelation: summaries(g.byRelation),
	}
}

// Directed returns the direction and the name of the base relation of a relation id.
func Directed(relations []string, relation int32) (direction, name string) {
	if base := int(relation) - len(relations); base >= 0 {
		return Head, relations[base]
	}
	return Tail, relations[relation]
}

func entry(m map[string]*gathered, key string) *gathered {
	g := m[key]
	if g == nil {
		g = &gathered{}
		m[key] = g
	}
	return g
}

func summaries(m map[string]*gathered) map[string]Summary {
	out := make(map[string]Summary, len(m))
	for key, g := range m {
		out[key] = g.summary()
	}
	return out
}

func distanceKey(distance int32) string {
	if distance == score.Unreached {
		return OutOfReach
	}
	return strconv.Itoa(int(distance))
}
