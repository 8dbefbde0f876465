package reach

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// ListFile is the name of the list in the folder of experiments.
const ListFile = "reach.json"

// List is the content of the list: which sets are measured, with which reaches.
type List struct {
	// Protocol says for readers how, and what the keys mean.
	Protocol []string `json:"protocol"`
	// Percents are shares of the entities, ascending up to 100.
	Percents []int `json:"percents"`
	Sets     []Set `json:"sets"`
}

// Set is a dataset with the way to train on it.
type Set struct {
	Name string `json:"name"`
	// Dataset and Inference are folders below that of the data, as for preprocess. Inference is empty where the training graph is queried.
	Dataset   string `json:"dataset"`
	Inference string `json:"inference,omitempty"`
	// Train are flags of train, without the reach.
	Train string `json:"train"`
	// Limit is the number of test queries that are ranked, 0 for all.
	Limit int64 `json:"limit,omitempty"`
}

// Whole is the percentage without a reach.
const Whole = 100

// ReadList reads a list. Errors about the file begin with its name, the line and the column.
func ReadList(ctx context.Context, file string) (List, error) {
	var l List
	text, err := storage.ReadFile(ctx, file)
	if err != nil {
		return l, err
	}
	if err := strict.Decode(file, text, &l); err != nil {
		return l, err
	}
	for i, percent := range l.Percents {
		if percent < 1 || i > 0 && percent <= l.Percents[i-1] {
			return l, strict.Mistake(file, text, fmt.Sprintf("%d: percents are 1 or more, and ascend", percent), "percents", fmt.Sprint(i))
		}
	}
	if n := len(l.Percents); n == 0 || l.Percents[n-1] != Whole {
		return l, strict.Mistake(file, text, "the last of percents has to be 100, whose model the others are compared with", "percents")
	}
	for i := range l.Sets {
		if err := l.check(i); err != nil {
			return l, strict.Mistake(file, text, fmt.Sprintf("set %q: %v", l.Sets[i].Name, err), "sets", fmt.Sprint(i))
		}
	}
	return l, nil
}

// name matches what a set may be called: it becomes the name of a folder.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (l List) check(i int) error {
	s := l.Sets[i]
	switch {
	case !name.MatchString(s.Name):
		return fmt.Errorf("name has letters, digits, dots and hyphens only")
	case slices.ContainsFunc(l.Sets[:i], func(other Set) bool { return other.Name == s.Name }):
		return fmt.Errorf("the name stands twice")
	case !filepath.IsLocal(s.Dataset) || s.Inference != "" && !filepath.IsLocal(s.Inference):
		return fmt.Errorf("dataset and inference are folders below that of the data")
	case s.Limit < 0:
		return fmt.Errorf("limit is %d, want 0 or more", s.Limit)
	}
	return nil
}

// Item is a set with a percentage, to be measured.
type Item struct {
	Set
	Percent int
}

// ID returns SET/PERCENT.
func (i Item) ID() string { return fmt.Sprintf("%s/%d", i.Name, i.Percent) }

// Items returns the items whose IDs, or sets, one of the patterns matches, which are separated by commas, with * for any characters but the
// slash; all, without a pattern. The whole graph comes first for each set, as the others are scored with its model. Each pattern has to
// match an item.
func (l List) Items(patterns string) (items []Item, err error) {
	found := map[string]bool{}
	var all []string
	for _, s := range l.Sets {
		all = append(all, s.Name)
		for _, percent := range slices.Backward(l.Percents) {
			item := Item{s, percent}
			chosen := patterns == ""
			for _, pattern := range strings.Split(patterns, ",") {
				for _, text := range []string{s.Name, item.ID()} {
					ok, err := path.Match(pattern, text)
					if err != nil {
						return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
					}
					found[pattern] = found[pattern] || ok
					chosen = chosen || ok
				}
			}
			if chosen {
				items = append(items, item)
			}
		}
	}
	for pattern, ok := range found {
		if patterns != "" && !ok {
			return nil, fmt.Errorf("nothing matches %q, of SET or SET/PERCENT; the closest sets are %s", pattern, strings.Join(names.Closest(pattern, all, 3), ", "))
		}
	}
	return items, nil
}
