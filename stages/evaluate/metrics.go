package evaluate

import (
	"encoding/json"
	"fmt"
	"strconv"

	"tagnet/model/ranking"
	"tagnet/stages/score"
)

// Directions of a query: asked for the tail of a fact, or for its head.
const (
	Tail = "tail"
	Head = "head"
)

// OutOfReach is the distance, in metrics.json, of an answer that no message reaches.
const OutOfReach = "unreached"

// Summary is how a set of queries went.
type Summary struct {
	Queries int64 `json:"queries"`
	// Unreached is how many of the answers no message reaches.
	Unreached int64 `json:"unreached"`
	// Tied is the share of the queries whose answer has exactly the score of another candidate.
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
	// Distinct is the number of distinct (source, relation): of propagations.
	Distinct int64 `json:"distinct"`
	// Messages is how many messages the propagations sent.
	Messages int64 `json:"messages"`
	// ByDirection has the keys tail and head, ByDistance "0", "1", ... and unreached, and
	// ByRelation the names of the base relations; only those that were asked.
	ByDirection map[string]Summary `json:"by_direction"`
	ByDistance  map[string]Summary `json:"by_distance"`
	ByRelation  map[string]Summary `json:"by_relation"`
}

// Encode is the file's content.
func (m Metrics) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding metrics: %w", err)
	}
	return append(text, '\n'), nil
}

// gathered is a Summary in the making.
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

// Gatherer gathers the metrics of scored bundles, which may come in any order.
type Gatherer struct {
	relations                           []string
	distinct, messages                  int64
	all                                 gathered
	byDirection, byDistance, byRelation map[string]*gathered
}

// NewGatherer gathers metrics over base relations of these names.
func NewGatherer(relations []string) *Gatherer {
	return &Gatherer{
		relations:   relations,
		byDirection: map[string]*gathered{}, byDistance: map[string]*gathered{}, byRelation: map[string]*gathered{},
	}
}

// Add takes in one bundle.
func (g *Gatherer) Add(s *score.Scored) {
	g.messages += s.Messages
	for _, q := range s.Queries {
		g.distinct++
		direction, relation := g.name(q.Relation)
		for _, r := range q.Results {
			g.all.add(r)
			into(g.byDirection, direction).add(r)
			into(g.byDistance, distanceKey(r.Distance)).add(r)
			into(g.byRelation, relation).add(r)
		}
	}
}

// Summary is how all queries went.
func (g *Gatherer) Summary() Summary { return g.all.summary() }

// Metrics is what has been gathered.
func (g *Gatherer) Metrics(split, checkpoint string) Metrics {
	return Metrics{
		Split: split, Checkpoint: checkpoint, Summary: g.Summary(),
		Distinct: g.distinct, Messages: g.messages,
		ByDirection: summaries(g.byDirection), ByDistance: summaries(g.byDistance), ByRelation: summaries(g.byRelation),
	}
}

func (g *Gatherer) name(relation int32) (direction, name string) {
	return Directed(g.relations, relation)
}

// Directed is how a person reads a relation id: the base relation's name, and the direction
// in which it is asked.
func Directed(relations []string, relation int32) (direction, name string) {
	if base := int(relation) - len(relations); base >= 0 {
		return Head, relations[base]
	}
	return Tail, relations[relation]
}

func into(m map[string]*gathered, key string) *gathered {
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
