package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/hop"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/configuration"
)

// enoughQueries is the number of queries from which on a relation is judged, worstShown how many relations are.
const enoughQueries, worstShown = 30, 3

// findings returns what a person would say about the results, in a few sentences. A difference between groups of
// queries is left out unless its 95% confidence interval excludes 0.
func (e *evidence) findings() []string {
	var said []string
	if len(e.evaluations) > 0 && e.evaluations[0].Queries > 0 {
		v := e.evaluations[0]
		said = append(said, v.directionGap(), e.outOfReach(v), v.tiesMatter(e.unreachedDiffer(v)), v.worst(), v.belowRules(), v.belowPopularity())
	}
	if s, ok := e.saved(); ok && !math.IsNaN(s.notEmpty) {
		said = append(said, fmt.Sprintf("Truncation leaves out %s of the messages that propagation along every edge in every layer sends, and %s of those "+
			"that are not empty.", percent(s.all), percent(s.notEmpty)))
	}
	said = append(said, e.missingMirrors())
	return slices.DeleteFunc(said, func(sentence string) bool { return sentence == "" })
}

// directionGap compares queries for tails with those for heads.
func (v evaluation) directionGap() string {
	if v.ranks == nil {
		return ""
	}
	names := []string{metrics.Tail, metrics.Head}
	if v.ByDirection[names[0]].Pessimistic.MRR < v.ByDirection[names[1]].Pessimistic.MRR {
		slices.Reverse(names)
	}
	better, worse := v.ByDirection[names[0]].Pessimistic.MRR, v.ByDirection[names[1]].Pessimistic.MRR
	d, ok := v.ranks.ofDirection(names[0]).Difference(v.ranks.ofDirection(names[1]))
	if !ok || !d.Excludes(0) || metric(better) == metric(worse) {
		return ""
	}
	return fmt.Sprintf("%ss are found better than %ss: MRR %s against %s, a difference of %s (95%% interval %s to %s).",
		strings.ToUpper(names[0][:1])+names[0][1:], names[1], metric(better), metric(worse), metric(better-worse), metric(d.Low), metric(d.High))
}

// unreachedDiffer reports whether, in an evaluation, entities that no message from the source reaches have scores of
// their own: without a window, where no reach leaves them out.
func (e *evidence) unreachedDiffer(v evaluation) bool {
	return v.evaluated.Reach == 0 && e.windowless()
}

// windowless reports whether each layer updates all entities: with the policy full, and with the weights of a file,
// which are scored with it.
func (e *evidence) windowless() bool {
	if evaluated := e.givenModel(); evaluated != nil {
		return evaluated.GivenModel.Model == ""
	}
	for _, v := range slices.Concat(e.evaluations, e.protocols) {
		if v.evaluated.From != nil {
			return true
		}
	}
	return e.checkpoint != nil && e.checkpoint.Configuration.Policy == configuration.PolicyFull
}

// outOfReach returns a sentence with the share of the answers that the model cannot find, and how well
// it finds the others.
func (e *evidence) outOfReach(v evaluation) string {
	share := float64(v.Unreached) / float64(v.Queries)
	if e.unreachedDiffer(v) || v.Unreached < 5 || share < 0.001 || v.Unreached == v.Queries {
		return ""
	}
	within := ""
	if e.checkpoint != nil {
		within = " within " + plural(int64(e.checkpoint.Configuration.Layers), "layer", "layers")
	}
	if v.evaluated.Reach > 0 {
		within += " and the " + plural(int64(v.evaluated.Reach), "entity", "entities") + " of a query's reach"
	}
	unreached := v.ByDistance[hop.Key]
	hits := (v.Pessimistic.Hits10*float64(v.Queries) - unreached.Pessimistic.Hits10*float64(unreached.Queries)) / float64(v.Queries-v.Unreached)
	return fmt.Sprintf("%s of the answers (%s of %s) cannot be found, since no message reaches them%s; of the others %s are among the first ten.%s",
		percent(share), count(v.Unreached), count(v.Queries), within, percent(hits), e.moreLayers(v))
}

// moreLayers returns a sentence on the layers that reach more answers, or nothing where layers are not what keeps more
// than a percent of them out of reach. The number of layers reaches all but a percent of those whose distances are
// known; it is two more than now where none is known that is farther than the layers.
func (e *evidence) moreLayers(v evaluation) string {
	if v.evaluated.Reach > 0 || 100*v.Unreached <= v.Queries {
		return ""
	}
	if e.checkpoint == nil {
		return " More are within reach of a model with more layers: train one with --layers."
	}
	now := e.checkpoint.Configuration.Layers
	layers := now + 2
	for _, d := range e.distances {
		if needed, searched := farAs(d); d.Split == v.Split && searched > now {
			layers = needed
		}
	}
	if layers <= now {
		return ""
	}
	return fmt.Sprintf(" More are within reach if you train with --layers %d.", layers)
}

// farAs returns the distance within which 99% of a split's reached answers are, and how far was searched.
func farAs(d counts.Distribution) (distance, searched int) {
	beyond := int64(0)
	for _, key := range slices.Backward(hop.Keys(d.ByDistance)) {
		if key == hop.Key {
			continue
		}
		distance, _ = strconv.Atoi(key) // 0 for what is no distance
		searched = max(searched, distance)
		if beyond += d.ByDistance[key]; 100*beyond > d.Queries {
			return distance, searched
		}
	}
	return 0, searched
}

// belowRules says that rules of one hop are better than the model, where they are.
func (v evaluation) belowRules() string {
	if v.Baselines == nil || v.Baselines.Rules.Pessimistic.MRR <= v.Pessimistic.MRR {
		return ""
	}
	return fmt.Sprintf("Rules of one hop, without training, rank the answers better than the model: MRR %s against %s.",
		metric(v.Baselines.Rules.Pessimistic.MRR), metric(v.Pessimistic.MRR))
}

// belowPopularity names the relations on which the model is worse than the most frequent answers.
func (v evaluation) belowPopularity() string {
	below := v.BelowPopularity()
	if len(below) == 0 {
		return ""
	}
	var named []string
	for _, name := range below[:min(worstShown, len(below))] {
		named = append(named, fmt.Sprintf("%s (MRR %s against %s)", shown(name), metric(v.ByRelation[name].Pessimistic.MRR),
			metric(v.Baselines.Popularity.ByRelation[name].Pessimistic.MRR)))
	}
	if more := len(below) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("Of the relations with at least %d queries, the most frequent answers are a better guess than the model's on %s.",
		metrics.EnoughToCompare, enumerate(named))
}

// tiesMatter returns a sentence on how much the MRR depends on the tie policy, or "" if it does not.
func (v evaluation) tiesMatter(unreachedDiffer bool) string {
	low, high := v.Pessimistic.MRR, v.Optimistic.MRR
	if metric(low) == metric(high) {
		return ""
	}
	sentence := fmt.Sprintf("%s of the answers have exactly the score of another entity, so that the MRR depends on how ties "+
		"count: %s pessimistic, %s optimistic.", percent(v.Tied), metric(low), metric(high))
	if u := v.ByDistance[hop.Key]; !unreachedDiffer && u.Tied*float64(u.Queries) > v.Tied*float64(v.Queries)/2 {
		sentence += " Most of these answers are unreached ones, which all have one score."
	}
	return sentence
}

// judged returns the relations with enough queries, the worst first.
func (v evaluation) judged() []string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(v.ByRelation)), func(name string) bool { return v.ByRelation[name].Queries < enoughQueries })
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(v.ByRelation[a].Pessimistic.MRR, v.ByRelation[b].Pessimistic.MRR), strings.Compare(a, b))
	})
	return names
}

// worstRelations returns the relations with the lowest MRR, which the text may name.
func (v evaluation) worstRelations() []string {
	names := v.judged()
	return names[:min(worstShown, len(names))]
}

// worst names the relations whose queries are answered worse than all others. They are the worst of many, one of which
// is low by chance more often than a single one: their intervals count twice as wide, about four standard errors, which
// allows for hundreds of relations.
func (v evaluation) worst() string {
	relations := v.judged()
	if v.ranks == nil || len(relations) < 2*worstShown {
		return ""
	}
	var named []string
	rest, sum := v.Queries, v.Pessimistic.MRR*float64(v.Queries)
	for _, name := range v.worstRelations() {
		own := v.ranks.byRelation[name]
		d, ok := own.Difference(v.ranks.whole.Without(own))
		if !ok || d.High+(d.High-d.Low)/2 >= 0 {
			continue
		}
		one := v.ByRelation[name]
		named = append(named, fmt.Sprintf("%s (MRR %s)", shown(name), metric(one.Pessimistic.MRR)))
		rest -= one.Queries
		sum -= one.Pessimistic.MRR * float64(one.Queries)
	}
	if len(named) == 0 || rest <= 0 {
		return ""
	}
	verb := "is"
	if len(named) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("Of the %d relations with at least %d queries, answered worst %s %s; the queries of all others have an MRR of %s.",
		len(relations), enoughQueries, verb, enumerate(named), metric(sum/float64(rest)))
}

// enumerate joins words: a, b and c.
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
