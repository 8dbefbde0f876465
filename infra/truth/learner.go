package truth

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/rules"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// learn lists new facts in the order of the confidence (shrunk) of rules of one and two steps. Where a head has one
// tail, or a tail one head, it lists no other.
func learn(ctx context.Context, r removal) (list []parquet.Fact, err error) {
	k, err := kg.New(r.kept, nil, nil)
	if err != nil {
		return nil, err
	}
	g, names := k.Inference.Graph, k.Inference.Entities
	mined, err := rules.Mine(ctx, g, 1, nil)
	if err != nil {
		return nil, err
	}
	wanted := strings.Split(r.relations, ",")
	mined.List = slices.DeleteFunc(mined.List, func(rule rules.Rule) bool {
		return len(rule.Body) > 2 || r.relations != "all" && !slices.Contains(wanted, k.Relations[rule.Relation])
	})
	slices.SortStableFunc(mined.List, func(a, b rules.Rule) int {
		return cmp.Compare(shrunk(b), shrunk(a))
	})
	answers, only := onlyAnswers(r.kept)
	known := setOf(r.kept)
	for _, rule := range mined.List {
		for x := int32(0); int(x) < g.Entities && len(list) < max(500, len(r.removed)); x++ {
			for _, y := range ends(g, x, rule.Body) {
				f := kg.Triple{Head: names[x], Relation: k.Relations[rule.Relation], Tail: names[y]}
				ofHead, ofTail := [2]string{f.Relation, f.Head}, [2]string{"~" + f.Relation, f.Tail}
				if x == y || known[f] || only[ofHead[0]] && answers[ofHead] > 0 || only[ofTail[0]] && answers[ofTail] > 0 {
					continue
				}
				known[f], answers[ofHead], answers[ofTail] = true, answers[ofHead]+1, answers[ofTail]+1
				list = append(list, parquet.Fact{Head: f.Head, Relation: f.Relation, Tail: f.Tail})
			}
		}
	}
	return list, nil
}

// shrunk returns the confidence of a rule as if it had failed in five more cases: those of few cases are not first.
func shrunk(r rules.Rule) float64 { return float64(r.Support) / float64(r.Cases+5) }

// ends returns where the paths along a body end.
func ends(g *graph.Graph, x int32, body []int32) []int32 {
	at := []int32{x}
	for _, step := range body {
		var next []int32
		for _, o := range at {
			next = append(next, g.Answers(o, step)...)
		}
		at = next
	}
	return at
}
