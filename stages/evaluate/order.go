package evaluate

import (
	"cmp"
	"slices"

	"tagnet/stages/score"
)

// inOrder merges bundles into one whose queries are in the order of the user's file.
func inOrder(all []*score.Scored) []*score.Scored {
	one := &score.Scored{}
	for _, s := range all {
		one.Messages += s.Messages
		one.Queries = append(one.Queries, s.Queries...)
	}
	slices.SortStableFunc(one.Queries, func(a, b score.Query) int { return cmp.Compare(a.Row, b.Row) })
	return []*score.Scored{one}
}
