package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/input/datasets"
)

// setting is a graph of which facts are removed, and what is made of the rest.
type setting struct {
	// Graph is that of a source, Percent the share of its facts that is removed. own removes what the tutorial keeps out of its file.
	Graph   string `json:"graph"`
	Percent int    `json:"percent"`
	Own     bool   `json:"own,omitempty"`
	// Keep is a relation none of whose facts is removed.
	Keep string `json:"keep,omitempty"`
	// Relations is the number of relations of the most facts that are listed; 0 lists all. Of the others no removed facts count.
	Relations int `json:"relations,omitempty"`
	// Split divides the rest with preprocess --split 90,5,5.
	Split bool `json:"split"`
}

// name returns that of a folder.
func (s setting) name() string {
	name := fmt.Sprintf("%s-%d", s.Graph, s.Percent)
	if s.Own {
		name = s.Graph + "-own"
	}
	if s.Keep != "" {
		name += "-" + s.Keep
	}
	if s.Split {
		name += "-split"
	}
	return name
}

// settings are all, those that take the least time first.
func settings() (list []setting) {
	both := func(s setting) {
		list = append(list, s)
		s.Split = true
		list = append(list, s)
	}
	both(setting{Graph: "tutorial", Own: true})
	both(setting{Graph: "hierarchy", Percent: 10, Keep: "is_a"})
	for _, percent := range []int{10, 2, 25} {
		for _, graph := range []string{"tutorial", "hierarchy", "shop", "WN18RR_v1", "rules", "family", "fb237_v1"} {
			s := setting{Graph: graph, Percent: percent}
			if graph == "fb237_v1" {
				s.Relations = 20 // all 180 take half a million queries
			}
			both(s)
		}
	}
	both(setting{Graph: "crowd", Percent: 10})
	return list
}

// lists returns the value of --relation: the relations that are listed.
func (s setting) lists(kept []datasets.Fact) string {
	if s.Relations == 0 {
		return "all"
	}
	count := map[string]int{}
	for _, f := range kept {
		count[f.Relation]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return strings.Join(names[:s.Relations], ",")
}

// facts returns those that stay and those that are removed.
func (s setting) facts(ctx context.Context, data, scratch string) (kept, removed []datasets.Fact, err error) {
	for _, from := range sources {
		if from.name != s.Graph {
			continue
		}
		all, err := from.facts(ctx, data, scratch)
		if err != nil {
			return nil, nil, err
		}
		if !s.Own {
			kept, removed = remove(all, float64(s.Percent)/100, s.Keep)
			return kept, removed, nil
		}
		kept, err = sample("sample", false)(ctx, data, scratch)
		known := map[datasets.Fact]bool{}
		for _, f := range kept {
			known[f] = true
		}
		for _, f := range all {
			if !known[f] {
				removed = append(removed, f)
			}
		}
		return kept, removed, err
	}
	return nil, nil, fmt.Errorf("no graph is named %q", s.Graph)
}

// training are the flags of train: a small model, some seconds to a minute of a core.
var training = strings.Fields("--layers 4 --dim 16 --negatives 32 --batch_size 32 --epochs 4 --queries_per_epoch 8000 --valid_limit 200 --device cpu")

// train makes a graph of the facts that stay, and trains a model on it, unless that is done, in a workspace of a folder.
func (s setting) train(ctx context.Context, o options, folder string, kept []datasets.Fact) error {
	file := filepath.Join(folder, "facts.tsv")
	if err := write(file, kept); err != nil {
		return err
	}
	preprocess := []string{"preprocess", "--dataset", file}
	if s.Split {
		preprocess = append(preprocess, "--split", "90,5,5")
	}
	if err := o.command(ctx, folder, preprocess...); err != nil {
		return err
	}
	run := filepath.Join(folder, "workspace", "runs", "main")
	if _, err := os.Stat(filepath.Join(run, "checkpoints", "best")); err != nil {
		if err := os.RemoveAll(run); err != nil { // a training that was interrupted begins again
			return err
		}
	}
	return o.command(ctx, folder, append(append([]string{"train"}, training...), o.threads()...)...)
}

// command runs a command of tagnet over the workspace of a setting. A command that is done does nothing.
func (o options) command(ctx context.Context, folder string, arguments ...string) error {
	arguments = append(arguments, "--workspace", filepath.Join(folder, "workspace"))
	text, err := exec.CommandContext(ctx, o.tagnet, arguments...).CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("tagnet %s: %w\n%s", strings.Join(arguments, " "), err, text)
	}
	return nil
}
