package evaluate

import (
	"strconv"

	"tagnet/formats/check"
	"tagnet/model/ranker"
	"tagnet/model/ranking"
	"tagnet/stages/bundle"
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
	// Protocol is empty for bundle.Test. Negatives is the number of random entities that each answer is ranked among, and
	// Seed theirs; 0 stands for all entities.
	Protocol  bundle.Protocol `json:"protocol,omitempty"`
	Negatives int             `json:"negatives,omitempty"`
	Seed      int64           `json:"seed,omitempty"`
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
	// Calibration is nil if the checkpoint has none.
	Calibration *Calibration `json:"calibration,omitempty"`
}

// Check returns an error for numbers that no set of queries has.
func (s Summary) Check() error {
	return check.First(check.Count("queries", s.Queries), check.Count("unreached", s.Unreached), check.Share("tied", s.Tied),
		check.Value("pessimistic", s.Pessimistic), check.Value("mean", s.Mean), check.Value("optimistic", s.Optimistic))
}

// Check returns an error for numbers that no evaluation has.
func (m Metrics) Check() error {
	if m.Calibration != nil {
		if err := check.Value("calibration", *m.Calibration); err != nil {
			return err
		}
	}
	return check.First(m.Summary.Check(), check.Count("negatives", m.Negatives), check.Count("distinct", m.Distinct), check.Count("messages", m.Messages),
		check.Map("by_direction", m.ByDirection), check.Map("by_distance", m.ByDistance), check.Map("by_relation", m.ByRelation))
}

// Counts are the sums of the ranks of a set of queries. They are integers: counts that are merged in any order and
// grouping are the same.
type Counts struct {
	Ranks     ranking.Accumulator
	Unreached int64
}

func (c *Counts) add(r ranker.Result) {
	c.Ranks.Add(r.Rank)
	if r.Distance == ranker.Unreached {
		c.Unreached++
	}
}

func (c *Counts) merge(other *Counts) {
	c.Ranks.Merge(other.Ranks)
	c.Unreached += other.Unreached
}

func (c *Counts) summary() Summary {
	return Summary{
		Queries: c.Ranks.Queries, Unreached: c.Unreached, Tied: c.Ranks.TiedShare(),
		Pessimistic: c.Ranks.Pessimistic.Metrics(),
		Mean:        c.Ranks.Mean.Metrics(),
		Optimistic:  c.Ranks.Optimistic.Metrics(),
	}
}

// Gatherer gathers the counts of scored bundles, in any order. Its size depends on the number of relations, not on that
// of queries. It is an element of pipelines, where its exported fields are encoded as JSON.
type Gatherer struct {
	// Shards is the number of bundles, Distinct that of their queries, Messages that of the messages that were sent.
	Shards             int
	Distinct, Messages int64
	All                Counts
	// ByDirection, ByDistance and ByRelation have the keys that Metrics states.
	ByDirection, ByDistance, ByRelation map[string]*Counts
	// Reliability has the base relations' counts of AddReliability.
	Reliability map[string]*ReliabilityCounts `json:",omitempty"`
}

// NewGatherer returns a Gatherer without counts.
func NewGatherer() *Gatherer {
	return &Gatherer{ByDirection: map[string]*Counts{}, ByDistance: map[string]*Counts{}, ByRelation: map[string]*Counts{}}
}

// Add adds a bundle. relations are the names of the base relations.
func (g *Gatherer) Add(s *ranker.Scored, relations []string) {
	g.Shards++
	g.Messages += s.Messages
	for _, q := range s.Queries {
		g.Distinct++
		direction, relation := Directed(relations, q.Relation)
		for _, r := range q.Results {
			g.All.add(r)
			entry(g.ByDirection, direction).add(r)
			entry(g.ByDistance, distanceKey(r.Distance)).add(r)
			entry(g.ByRelation, relation).add(r)
		}
	}
}

// Merge adds what another Gatherer gathered.
func (g *Gatherer) Merge(other *Gatherer) {
	g.Shards += other.Shards
	g.Distinct += other.Distinct
	g.Messages += other.Messages
	g.All.merge(&other.All)
	for _, pair := range []struct{ into, from map[string]*Counts }{
		{g.ByDirection, other.ByDirection}, {g.ByDistance, other.ByDistance}, {g.ByRelation, other.ByRelation},
	} {
		for key, counts := range pair.from {
			entry(pair.into, key).merge(counts)
		}
	}
	if g.Reliability == nil && other.Reliability != nil {
		g.Reliability = map[string]*ReliabilityCounts{}
	}
	for relation, counts := range other.Reliability {
		entry(g.Reliability, relation).merge(counts)
	}
}

// Summary returns the metrics of all queries added so far.
func (g *Gatherer) Summary() Summary { return g.All.summary() }

// Metrics returns the metrics of all queries added so far, also by direction, distance and relation.
func (g *Gatherer) Metrics(split, checkpoint string) Metrics {
	return Metrics{
		Split: split, Checkpoint: checkpoint, Summary: g.Summary(),
		Distinct: g.Distinct, Messages: g.Messages,
		ByDirection: summaries(g.ByDirection), ByDistance: summaries(g.ByDistance), ByRelation: summaries(g.ByRelation),
	}
}

// Directed returns the direction and the name of the base relation of a relation id.
func Directed(relations []string, relation int32) (direction, name string) {
	if base := int(relation) - len(relations); base >= 0 {
		return Head, relations[base]
	}
	return Tail, relations[relation]
}

// Queried returns a base relation as a query in a direction names it: with a leading ~ where heads are the answers.
func Queried(direction, relation string) string {
	if direction == Head {
		return "~" + relation
	}
	return relation
}

func entry[C any](m map[string]*C, key string) *C {
	c := m[key]
	if c == nil {
		c = new(C)
		m[key] = c
	}
	return c
}

func summaries(m map[string]*Counts) map[string]Summary {
	out := make(map[string]Summary, len(m))
	for key, c := range m {
		out[key] = c.summary()
	}
	return out
}

func distanceKey(distance int32) string {
	if distance == ranker.Unreached {
		return OutOfReach
	}
	return strconv.Itoa(int(distance))
}
