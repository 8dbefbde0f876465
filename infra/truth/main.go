// Command truth measures lists of new facts and their probabilities on graphs of which facts were removed first.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/input/datasets"
	"tagnet/infra/internal/program"
)

func main() {
	os.Exit(program.Run("truth", "interrupted: the same command continues with the setting that was being measured", run))
}

// options are the flags.
type options struct {
	state, data, tagnet, only, results string
	cores                              int
	trains                             bool
}

// threads are the flags of a command.
func (o options) threads() []string { return []string{"--threads", strconv.Itoa(o.cores)} }

func parse(arguments []string, diagnostics io.Writer) (o options, err error) {
	set := flag.NewFlagSet("truth", flag.ContinueOnError)
	set.StringVar(&o.state, "state", "workspaces/truth", "`folder` of the workspaces")
	set.StringVar(&o.data, "data", "../shared/data", "`folder` with graphs/family, inductive/WN18RR_v1 and inductive/fb237_v1")
	set.StringVar(&o.tagnet, "tagnet", "", "`file` of a built tagnet")
	set.StringVar(&o.only, "only", "*", "`patterns` of settings to measure, separated by commas; the table has all that are measured")
	set.StringVar(&o.results, "results", "infra/truth", "`folder` of the table, TRUTH.md, and the files of the settings, results/NAME.json")
	set.IntVar(&o.cores, "threads", 0, "threads of a command; 0 is one per core; changes no result")
	set.BoolVar(&o.trains, "train_only", false, "only train the models, which a later call measures")
	err = program.Parse(set, "Measures lists of new facts and their probabilities on graphs of which facts were removed first.", arguments, diagnostics)
	if err == nil && o.tagnet == "" {
		err = program.Usage("--tagnet is needed: go build -o tagnet ./pipelines/tagnet")
	}
	return o, err
}

// takes reports whether a setting is to be measured.
func (o options) takes(name string) bool {
	for _, pattern := range strings.Split(o.only, ",") {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	var results []result
	for _, s := range settings() {
		r, err := o.read(s)
		if errors.Is(err, fs.ErrNotExist) && o.takes(s.name()) {
			begin := time.Now()
			if r, err = s.measure(ctx, o); err == nil && !o.trains {
				err = o.write(*r)
			}
			if err == nil {
				fmt.Fprintf(out, "%s: %s\n", s.name(), time.Since(begin).Round(time.Second))
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) || o.trains && err == nil:
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", s.name(), err)
		}
		results = append(results, *r)
		for _, miss := range r.misses() {
			fmt.Fprintf(out, "%s misses: %s\n", s.name(), miss)
		}
	}
	if len(results) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(o.results, "TRUTH.md"), append([]byte(heading), table(results)...), 0o644)
}

// heading begins the table.
const heading = `# Lists and probabilities against the truth

` + "`go run ./infra/truth` made this; [README.md](README.md) says how. In parentheses are the metrics of the same rows, ordered by the lower of both scores.\n\n"

// file returns that of a setting's result.
func (o options) file(s setting) string { return filepath.Join(o.results, "results", s.name()+".json") }

// read returns the result of a setting.
func (o options) read(s setting) (*result, error) {
	text, err := os.ReadFile(o.file(s))
	if err != nil {
		return nil, err
	}
	r := &result{}
	return r, json.Unmarshal(text, r)
}

// write writes the result of a setting.
func (o options) write(r result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.file(r.setting)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(o.file(r.setting), append(text, '\n'), 0o644)
}

// measure removes facts, trains, lists and compares.
func (s setting) measure(ctx context.Context, o options) (*result, error) {
	folder := filepath.Join(o.state, s.name())
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	kept, removed, err := s.facts(ctx, o.data, filepath.Join(folder, "sample"))
	if err != nil {
		return nil, err
	}
	if err := s.train(ctx, o, folder, kept); err != nil || o.trains {
		return nil, err
	}
	missing := float64(len(removed)) / float64(len(kept))
	relations := s.lists(kept)
	if s.Relations > 0 {
		listed := strings.Split(relations, ",")
		removed = slices.DeleteFunc(removed, func(f datasets.Fact) bool { return !slices.Contains(listed, f.Relation) })
	}
	list, err := s.list(ctx, o, folder, relations, missing, 10)
	if err != nil {
		return nil, err
	}
	r := measure(list, removed)
	r.setting, r.Facts, r.Missing = s, len(kept), missing
	if s.Graph == "crowd" {
		wide, err := s.list(ctx, o, folder, relations, missing, 100)
		if err != nil {
			return nil, err
		}
		r.Wide = &measure(wide, removed).Precisions[2].List
	}
	if s.Keep == "is_a" {
		r.Parents, err = s.parents(ctx, folder, list, kept)
	}
	return &r, err
}

// parents returns what a list says of the terms of a hierarchy.
func (s setting) parents(ctx context.Context, folder string, list []listed, kept []datasets.Fact) (*parents, error) {
	heads, err := hidden(ctx, folder, s.Keep)
	return ofParents(list, kept, heads), err
}
