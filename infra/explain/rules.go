package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tagnet/formats/tables"
	"tagnet/infra/datasets"
	"tagnet/model/explanation"
	"tagnet/model/graph"
)

// certain is the share of the pairs that a path's relations join from which on these count as a rule that the sample obeys.
const certain = 0.95

// ruleCounts are the answers of a relation, and the kinds of their first paths.
type ruleCounts struct{ answers, instance, derives, obeyed, among, effective int }

// compareWithRules prints for how many answers the first path is an instance of a rule that derives the answer, and what the
// other first paths are.
func (t *trial) compareWithRules(ctx context.Context, out io.Writer) error {
	known, err := t.view.Answers(ctx)
	if err != nil {
		return err
	}
	confidences := map[string]float64{}
	byRelation := map[string]*ruleCounts{}
	all, lastShare := ruleCounts{}, 0.0
	for i, q := range t.queries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		conclusion := t.loaded.Relations[int(q.Relation)%len(t.loaded.Relations)]
		instances := t.instances(conclusion, q)
		paths := t.explained[i].Paths
		if len(instances) == 0 || len(paths) == 0 {
			continue
		}
		isInstance := func(p explanation.Path) bool {
			return slices.ContainsFunc(instances, func(facts map[graph.Fact]bool) bool {
				return len(facts) == len(p.Edges) && len(t.facts(p)) == len(facts) && containsAll(facts, t.facts(p))
			})
		}
		first := paths[0]
		form := fmt.Sprint(q.Relation, t.relations(first))
		if _, there := confidences[form]; !there {
			confidences[form] = t.confidence(known, first, q.Relation)
		}
		effective, err := t.effective(ctx, q, t.explained[i].Score, first, instances)
		if err != nil {
			return err
		}
		one := ruleCounts{1, count(isInstance(first)), count(t.derives(first, conclusion, q)), count(confidences[form] >= certain),
			count(slices.ContainsFunc(paths, isInstance)), count(effective)}
		if byRelation[conclusion] == nil {
			byRelation[conclusion] = &ruleCounts{}
		}
		byRelation[conclusion].add(one)
		all.add(one)
		lastShare += first.Edges[len(first.Edges)-1].Value / (first.Weight * float64(len(first.Edges)))
		if t.show && one.instance == 0 {
			fmt.Fprintf(out, "%s %s %s: score %.2f, first path %.3f %v, holds in %.0f%%\n", t.view.Entities[q.Source], conclusion, t.view.Entities[q.Answer],
				t.explained[i].Score, first.Weight, t.relations(first), 100*confidences[form])
		}
	}
	if all.answers == 0 {
		return errors.New("--rules: no answer follows from the graph by a rule; the graph must be that of the quickstart")
	}
	n := all.answers
	fmt.Fprintf(out, "%d answers follow from the graph by one application of a rule. Their first path\n", n)
	share := func(text string, part int) { fmt.Fprintf(out, "  %5.1f%%  %s\n", 100*float64(part)/float64(n), text) }
	share("is an instance of such a rule", all.instance)
	share("derives the answer by rules, one after the other", all.derives)
	share(fmt.Sprintf("has relations that hold for %.0f%% or more of all that they join", 100*certain), all.obeyed)
	share("matters to the model at least as much as any instance: the score falls at least as much without its facts", all.effective)
	share(fmt.Sprintf("or another of the %d best is an instance", t.paths), all.among)
	fmt.Fprintf(out, "  its last step has %.0f%% of its weight, on average\n", 100*lastShare/float64(n))
	for _, relation := range t.loaded.Relations {
		if c := byRelation[relation]; c != nil {
			fmt.Fprintf(out, "    %-18s answers %3d, instances %3d, hold %3d\n", relation, c.answers, c.instance, c.obeyed)
		}
	}
	return nil
}

func (c *ruleCounts) add(d ruleCounts) {
	c.answers, c.instance, c.derives, c.obeyed = c.answers+d.answers, c.instance+d.instance, c.derives+d.derives, c.obeyed+d.obeyed
	c.among, c.effective = c.among+d.among, c.effective+d.effective
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func containsAll(facts, of map[graph.Fact]bool) bool {
	for f := range of {
		if !facts[f] {
			return false
		}
	}
	return true
}

// facts returns the facts of a path.
func (t *trial) facts(p explanation.Path) map[graph.Fact]bool {
	facts := map[graph.Fact]bool{}
	for _, e := range p.Edges {
		facts[t.fact(e)] = true
	}
	return facts
}

// relations returns the relations of a path, with a leading ~ where it goes against one.
func (t *trial) relations(p explanation.Path) []string {
	relations := make([]string, len(p.Edges))
	for i, e := range p.Edges {
		base := int(e.Relation) % len(t.loaded.Relations)
		relations[i] = t.loaded.Relations[base]
		if base != int(e.Relation) {
			relations[i] = "~" + relations[i]
		}
	}
	return relations
}

// instances returns the facts of each instance of a rule that derives a query's answer from the graph in one application.
func (t *trial) instances(conclusion string, q tables.Query) (instances []map[graph.Fact]bool) {
	head, tail := q.Source, q.Answer
	if int(q.Relation) >= len(t.loaded.Relations) {
		head, tail = tail, head
	}
	g := t.view.Graph
	var follow func(at int32, body []datasets.Step, facts []graph.Fact)
	follow = func(at int32, body []datasets.Step, facts []graph.Fact) {
		if len(body) == 0 {
			if at == tail {
				set := map[graph.Fact]bool{}
				for _, f := range facts {
					set[f] = true
				}
				instances = append(instances, set)
			}
			return
		}
		relation := int32(slices.Index(t.loaded.Relations, body[0].Relation))
		neighbors, relations := g.In(at)
		for i, o := range neighbors {
			switch { // the edges that enter an entity are those that leave it, each with the inverse of its relation
			case body[0].Against && relations[i] == relation:
				follow(o, body[1:], append(slices.Clone(facts), graph.Fact{Head: o, Relation: relation, Tail: at}))
			case !body[0].Against && relations[i] == g.Inverse(relation):
				follow(o, body[1:], append(slices.Clone(facts), graph.Fact{Head: at, Relation: relation, Tail: o}))
			}
		}
	}
	for _, rule := range datasets.Rules() {
		if rule.Conclusion == conclusion {
			follow(head, rule.Path, nil)
		}
	}
	return instances
}

// derives reports whether an answer follows by the rules from the facts of a path alone.
func (t *trial) derives(p explanation.Path, conclusion string, q tables.Query) bool {
	name := func(o int32) string { return t.view.Entities[o] }
	var facts []datasets.Fact
	for f := range t.facts(p) {
		facts = append(facts, datasets.Fact{Head: name(f.Head), Relation: t.loaded.Relations[f.Relation], Tail: name(f.Tail)})
	}
	answer := datasets.Fact{Head: name(q.Source), Relation: conclusion, Tail: name(q.Answer)}
	if int(q.Relation) >= len(t.loaded.Relations) {
		answer.Head, answer.Tail = answer.Tail, answer.Head
	}
	return datasets.Close(datasets.Rules(), facts)[answer]
}

// confidence returns for which share of the pairs that the relations of a path join, in the graph and all splits, a relation
// holds too.
func (t *trial) confidence(known tables.Answers, p explanation.Path, relation int32) float64 {
	joined, hold := 0, 0
	for source := range int32(t.view.Graph.Entities) {
		reached := map[int32]bool{source: true}
		for _, e := range p.Edges {
			next := map[int32]bool{}
			for u := range reached {
				for _, o := range known.Of(u, e.Relation) {
					next[o] = true
				}
			}
			reached = next
		}
		answers := known.Of(source, relation)
		for o := range reached {
			if o != source {
				joined++
				_, holds := slices.BinarySearch(answers, o)
				hold += count(holds)
			}
		}
	}
	return float64(hold) / float64(max(1, joined))
}

// effective reports whether the score falls at least as much without the facts of a path as without those of any instance.
func (t *trial) effective(ctx context.Context, q tables.Query, score float64, p explanation.Path, instances []map[graph.Fact]bool) (bool, error) {
	fall := func(facts map[graph.Fact]bool) (float64, error) {
		g, err := t.without(facts)
		if err != nil {
			return 0, err
		}
		without, err := t.score(ctx, g, q)
		return score - float64(without), err
	}
	falls, err := fall(t.facts(p))
	if err != nil {
		return false, err
	}
	for _, instance := range instances {
		other, err := fall(instance)
		if err != nil || other > falls+1e-4 {
			return false, err
		}
	}
	return true, nil
}
