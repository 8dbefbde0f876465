package evaluate

import (
	"cmp"
	"slices"

	"tagnet/stages/score"
)

// inOrder puts questions back into the order in which a user asked them.
func inOrder(all []*score.Scored) []*score.Scored {
	one := &score.Scored{}
	for _, s := range all {
		one.Messages += s.Messages
		one.Questions = append(one.Questions, s.Questions...)
	}
	slices.SortStableFunc(one.Questions, func(a, b score.Question) int { return cmp.Compare(a.Asked, b.Asked) })
	return []*score.Scored{one}
}
