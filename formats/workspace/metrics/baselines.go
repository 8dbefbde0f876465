package metrics

import (
	"cmp"
	"slices"

	"tagnet/formats/strict"
)

// Baselines has the metrics of what needs no training, of the same queries among the same candidates.
type Baselines struct {
	// Popularity ranks entities by how many facts of the relation they answer, Rules by rules of one hop.
	Popularity Baseline `json:"popularity"`
	Rules      Baseline `json:"rules"`
}

// Baseline has the metrics of one of them, also by the keys of Evaluation's ByRelation and ByLinks.
type Baseline struct {
	Ranks
	ByRelation map[string]Ranks `json:"by_relation"`
	ByLinks    map[string]Ranks `json:"by_links"`
}

// EnoughToCompare is the least number of queries of a relation that is compared with a baseline.
const EnoughToCompare = 20

// BelowPopularity returns the relations with EnoughToCompare queries whose pessimistic MRR is below the MRR of
// Popularity, the farthest below first; none without Baselines.
func (e Evaluation) BelowPopularity() (relations []string) {
	if e.Baselines == nil {
		return nil
	}
	below := func(relation string) float64 {
		return e.Baselines.Popularity.ByRelation[relation].Pessimistic.MRR - e.ByRelation[relation].Pessimistic.MRR
	}
	for relation, summary := range e.ByRelation {
		if summary.Queries >= EnoughToCompare && below(relation) > 0 {
			relations = append(relations, relation)
		}
	}
	slices.SortFunc(relations, func(a, b string) int { return cmp.Or(cmp.Compare(below(b), below(a)), cmp.Compare(a, b)) })
	return relations
}

// Check returns an error for numbers that no baselines have.
func (b Baselines) Check() error {
	return strict.First(strict.Value("popularity", b.Popularity), strict.Value("rules", b.Rules))
}

// Check returns an error for numbers that no baseline has.
func (b Baseline) Check() error {
	return strict.First(b.Ranks.Check(), strict.Each("by_relation", b.ByRelation, strict.Value), strict.Each("by_links", b.ByLinks, strict.Value))
}
