package zeroshot

import (
	"fmt"
	"path"
	"strings"

	"tagnet/formats/names"
)

// Select returns the graphs that one of the patterns matches, which are separated by commas, with * for any characters; all, without a
// pattern. Each pattern has to match a graph.
func (l List) Select(patterns string) ([]Graph, error) {
	if patterns == "" {
		return l.Graphs, nil
	}
	chosen := map[string]bool{}
	for _, pattern := range strings.Split(patterns, ",") {
		found := false
		var all []string
		for _, g := range l.Graphs {
			ok, err := path.Match(pattern, g.Name)
			if err != nil {
				return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
			}
			found = found || ok
			chosen[g.Name] = chosen[g.Name] || ok
			all = append(all, g.Name)
		}
		if !found {
			return nil, fmt.Errorf("no graph matches %q; the closest are %s", pattern, strings.Join(names.Closest(pattern, all, 3), ", "))
		}
	}
	var graphs []Graph
	for _, g := range l.Graphs {
		if chosen[g.Name] {
			graphs = append(graphs, g)
		}
	}
	return graphs, nil
}
