package plan

import (
	"fmt"
	"path"
	"strings"

	"tagnet/formats/names"
)

// Select returns the runs that one of the patterns matches, which are separated by commas. A pattern is DATASET/RUN with * for any
// characters but the slash, or one of the two alone. Each has to match a run.
func Select(runs []Run, patterns string) ([]Run, error) {
	chosen := make([]bool, len(runs))
	for _, pattern := range strings.Split(patterns, ",") {
		if pattern == "" {
			continue
		}
		matched := false
		for i, r := range runs {
			ok, err := matches(pattern, r)
			if err != nil {
				return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
			}
			matched = matched || ok
			chosen[i] = chosen[i] || ok
		}
		if !matched {
			ids := make([]string, len(runs))
			for i, r := range runs {
				ids[i] = r.ID()
			}
			return nil, fmt.Errorf("no run matches %q; the closest are %s", pattern, strings.Join(names.Closest(pattern, ids, 3), ", "))
		}
	}
	var selected []Run
	for i, r := range runs {
		if chosen[i] || strings.Trim(patterns, ",") == "" {
			selected = append(selected, r)
		}
	}
	return selected, nil
}

func matches(pattern string, r Run) (bool, error) {
	if strings.Contains(pattern, "/") {
		return path.Match(pattern, r.ID())
	}
	dataset, err := path.Match(pattern, r.Dataset)
	if err != nil || dataset {
		return dataset, err
	}
	return path.Match(pattern, r.Name())
}
