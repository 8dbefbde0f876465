package evaluation

import (
	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// Baselines rank answers by a graph, without training. They may be used concurrently.
type Baselines struct {
	graph      *graph.Graph
	popularity *Popularity
	rules      *Rules
}

// NewBaselines returns the baselines of a graph, which stays in use.
func NewBaselines(g *graph.Graph) *Baselines {
	return &Baselines{g, NewPopularity(g), NewRules(g)}
}

// AllBaselines are the counts of the answers by their links, and those that baselines give the same answers.
type AllBaselines struct {
	ByLinks           map[string]*Counts
	Popularity, Rules *BaselineCounts
}

// BaselineCounts are the Counts of a baseline. None of its answers is unreached.
type BaselineCounts struct {
	All                 Counts
	ByRelation, ByLinks map[string]*Counts
}

// AddBaselines adds how baselines rank the labeled answers of a bundle that Add was given. among returns a query with
// what its answers are ranked among.
func (g *Gatherer) AddBaselines(s *answer.Scored, relations []string, b *Baselines, among func(graph.Query) answer.Request) {
	into, scores := g.baselineCounts(), make([]float32, b.graph.Entities)
	for _, q := range s.Queries {
		request := among(q.Query)
		_, relation := SplitRelation(relations, q.Relation)
		links := make([]string, len(q.Results))
		for i, r := range q.Results {
			links[i] = linksOf(b.graph, q.Fact(r.Answer, int32(len(relations))))
			entry(into.ByLinks, links[i]).add(r)
		}
		add := func(counts *BaselineCounts) {
			for i, r := range q.Results {
				counts.add(relation, links[i], request.RankOf(r.Answer, scores))
			}
		}
		b.popularity.Scores(q.Relation, scores)
		add(into.Popularity)
		b.rules.Scores(q.Source, q.Relation, scores)
		add(into.Rules)
	}
}

// baselineCounts returns the counts of baselines, which may be the first.
func (g *Gatherer) baselineCounts() *AllBaselines {
	if g.Baselines == nil {
		counts := func() *BaselineCounts {
			return &BaselineCounts{ByRelation: map[string]*Counts{}, ByLinks: map[string]*Counts{}}
		}
		g.Baselines = &AllBaselines{map[string]*Counts{}, counts(), counts()}
	}
	return g.Baselines
}

func (b *AllBaselines) merge(other *AllBaselines) {
	mergeAll(b.ByLinks, other.ByLinks)
	b.Popularity.merge(other.Popularity)
	b.Rules.merge(other.Rules)
}

func (b *BaselineCounts) add(relation, links string, rank ranking.Rank) {
	b.All.Ranks.Add(rank)
	entry(b.ByRelation, relation).Ranks.Add(rank)
	entry(b.ByLinks, links).Ranks.Add(rank)
}

func (b *BaselineCounts) merge(other *BaselineCounts) {
	b.All.merge(&other.All)
	mergeAll(b.ByRelation, other.ByRelation)
	mergeAll(b.ByLinks, other.ByLinks)
}

func (b *BaselineCounts) metrics() metrics.Baseline {
	return metrics.Baseline{Ranks: b.All.Ranks.Metrics(), ByRelation: ranks(b.ByRelation), ByLinks: ranks(b.ByLinks)}
}

func ranks(m map[string]*Counts) map[string]metrics.Ranks {
	return each(m, func(c *Counts) metrics.Ranks { return c.Ranks.Metrics() })
}
