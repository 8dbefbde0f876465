package comparison

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/workspace/results"
	"tagnet/model/weights/configuration"
)

// Group holds the trainings of one model, which differ only in their seeds.
type Group struct {
	Dataset, Experiment string
	// Varied holds the varied flags with their values.
	Varied map[string]string
	// Results are sorted by seed.
	Results []results.Result
}

// Groups returns the groups of results, sorted by dataset, experiment and varied values.
func Groups(all []results.Result) []Group {
	found := map[string]*Group{}
	for _, r := range all {
		g := Group{Dataset: r.Dataset, Experiment: r.Experiment, Varied: r.Varied}
		key := g.Key()
		if found[key] == nil {
			found[key] = &g
		}
		found[key].Results = append(found[key].Results, r)
	}
	groups := make([]Group, 0, len(found))
	for _, g := range found {
		slices.SortStableFunc(g.Results, func(a, b results.Result) int { return cmp.Compare(a.Seed, b.Seed) })
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(strings.Compare(a.Dataset, b.Dataset), strings.Compare(a.Experiment, b.Experiment), compareVaried(a.Varied, b.Varied), strings.Compare(a.Key(), b.Key()))
	})
	return groups
}

// compareVaried orders varied flags by name and then by value, numbers by their size.
func compareVaried(a, b map[string]string) int {
	flags, others := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	if c := slices.Compare(flags, others); c != 0 {
		return c
	}
	for _, flag := range flags {
		x, err1 := strconv.ParseFloat(a[flag], 64)
		y, err2 := strconv.ParseFloat(b[flag], 64)
		c := strings.Compare(a[flag], b[flag])
		if err1 == nil && err2 == nil {
			c = cmp.Or(cmp.Compare(x, y), c)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// Key identifies the group: dataset, "/", and the name of its runs without the seed, as in WN18RR_v1/fixed-delta-0.
func (g Group) Key() string {
	const seed = "-seed-0"
	return g.Dataset + "/" + strings.TrimSuffix(results.RunName(g.Experiment, g.Varied, 0), seed)
}

// Name describes the group within its dataset: "fixed, delta 0".
func (g Group) Name() string {
	words := []string{g.Experiment}
	for _, flag := range slices.Sorted(maps.Keys(g.Varied)) {
		words = append(words, flag+" "+g.Varied[flag])
	}
	return strings.Join(words, ", ")
}

// Fields returns the configuration of the group's first result, by the names of the flags, nil if it cannot be read. A hyperparameter that
// was added after the training has its zero value.
func (g Group) Fields() (fields map[string]json.RawMessage) {
	var c configuration.Configuration
	if len(g.Results) == 0 || g.Results[0].Configure(&c) != nil {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return fields
}

// Number returns the value of a flag in the group, varied or not, and false if it is no number.
func (g Group) Number(flag string) (float64, bool) {
	text, ok := g.Varied[flag]
	if !ok {
		text = string(g.Fields()[flag])
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

// Best returns the group with the highest validation MRR, by which models are chosen, not by the test split; of equal ones the first. It returns false if
// no training was validated.
func Best(groups []Group) (best Group, ok bool) {
	for _, g := range groups {
		if s := g.Validation(); s.N > 0 && (!ok || s.Mean > best.Validation().Mean) {
			best, ok = g, true
		}
	}
	return best, ok
}

// SortedFields returns the names of a configuration's fields, first of those that determine the architecture.
func SortedFields(fields map[string]json.RawMessage) []string {
	first := []string{"relations", "relation_layers", "policy", "layers", "delta", "delta_mode", "dim", "aggregate", "message"}
	weight := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(fields), func(a, b string) int { return cmp.Or(weight(a)-weight(b), strings.Compare(a, b)) })
}
