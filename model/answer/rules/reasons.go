package rules

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
)

// perStep is subtracted from the confidence of a rule for each step of its body, to order reasons.
const perStep = .1

// Reason is a rule that holds for a fact. Its counts are those without the fact, or estimates where the rule's are of a
// sample of heads.
type Reason struct {
	Rule
	// Path are the entities along the body, from head to tail.
	Path []int32
}

// compare orders reasons, the better one first.
func (r Reason) compare(o Reason) int {
	value := func(r Reason) float64 { return r.Confidence() - perStep*float64(len(r.Body)) }
	return cmp.Or(cmp.Compare(value(o), value(r)), cmp.Compare(o.Support, r.Support))
}

// Reasons returns the k best rules of the relation of a fact whose body joins its head and tail in the graph of the
// rules without the fact, each with a path. The best ones have the highest confidence, less .1 for each step. Around
// hubs it may miss some.
func (r *Rules) Reasons(g *graph.Graph, f graph.Fact, k int) (found []Reason) {
	var all []Reason
	stated := g.Has(f.Head, f.Relation, f.Tail)
	for _, rule := range r.Of(f.Relation) {
		if stated && sampled(rule.Every, uint64(f.Head)) { // as every rule that joins them has counted
			rule.Support, rule.Pairs, rule.Cases = rule.Support-1, rule.Pairs-1, rule.Cases-1
		}
		if rule.Support > 0 && !toAndFro(g, rule.Body) {
			all = append(all, Reason{Rule: rule})
		}
	}
	slices.SortStableFunc(all, Reason.compare)
	for _, reason := range all {
		if len(found) == k {
			break
		}
		if reason.Path = join(g, f, reason.Body); reason.Path != nil {
			// What a sample of heads counts stands for all.
			reason.Support, reason.Cases, reason.Pairs = reason.Support*reason.Every, reason.Cases*reason.Every, reason.Pairs*reason.Every
			found = append(found, reason)
		}
	}
	return found
}

// toAndFro reports whether two of three steps follow a relation and return by it: that an entity is like another one
// is no reason, unless it is all of it.
func toAndFro(g *graph.Graph, body []int32) bool {
	return len(body) == 3 && (body[1] == g.Inverse(body[0]) || body[2] == g.Inverse(body[1]))
}

// join returns a path along a body that joins the head and the tail of a fact, from the one with fewer edges on.
func join(g *graph.Graph, f graph.Fact, body []int32) (path []int32) {
	from, to, back := f.Head, f.Tail, g.Degree(f.Head) > g.Degree(f.Tail)
	if back {
		from, to, body = to, from, backward(g, body)
	}
	last := len(body) - 1
	walk(g.Answers, []int32{from}, body[:last], mostFollowed, func(p []int32) bool {
		if !slices.Contains(p, to) && g.Has(p[last], body[last], to) {
			path = append(slices.Clone(p), to)
		}
		return path == nil
	})
	if back {
		slices.Reverse(path)
	}
	return path
}

// backward returns the body that leads from the end of a body to where it began.
func backward(g *graph.Graph, body []int32) (inverse []int32) {
	for _, b := range slices.Backward(body) {
		inverse = append(inverse, g.Inverse(b))
	}
	return inverse
}

// sure is the least confidence of a rule that speaks against a fact, or tells what is missing.
const sure = .8

// Against returns the rules, best first, that give the head of a fact another tail, or its tail another head, in
// the graph of the rules, and not what the fact says. It has none for a direction that is not nearly functional.
// There, a rule whose body takes a fact of the relation from the same head gives a second tail, and is never sure:
// the fact itself has no say.
func (r *Rules) Against(g *graph.Graph, f graph.Fact) (found []Reason) {
	other := func(from, to, relation int32, body []int32) (first []int32) {
		if _, functional := slices.BinarySearch(r.Functional, relation); !functional {
			return nil
		}
		walk(g.Answers, []int32{from, 0, 0, 0}[:1], body, mostFollowed, func(path []int32) bool {
			if end := path[len(path)-1]; end == to {
				first = nil
				return false
			}
			if first == nil {
				first = slices.Clone(path)
			}
			return true
		})
		return first
	}
	for _, rule := range r.Of(f.Relation) {
		if rule.Confidence() < sure || toAndFro(g, rule.Body) {
			continue
		}
		if path := other(f.Head, f.Tail, f.Relation, rule.Body); path != nil {
			found = append(found, Reason{rule, path})
		}
		if path := other(f.Tail, f.Head, g.Inverse(f.Relation), backward(g, rule.Body)); path != nil {
			slices.Reverse(path)
			found = append(found, Reason{rule, path})
		}
	}
	slices.SortStableFunc(found, Reason.compare)
	return found
}
