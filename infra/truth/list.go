package truth

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/infra/internal/engine"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
	"tagnet/model/zoo"
)

// List is a list of settings, each of which is measured with a graph that is split, and without.
type List struct {
	// Train are flags of train: those of a small model.
	Train    string    `json:"train"`
	Settings []Setting `json:"settings"`
}

// Setting is a graph of which facts are removed, and what is made of the rest.
type Setting struct {
	// Graph is the name of a source, Percent the share of its facts that is removed. TutorialRemoval removes what the
	// tutorial keeps out of its file.
	Graph           string `json:"graph"`
	Percent         int    `json:"percent"`
	TutorialRemoval bool   `json:"own"`
	// Seed is that of holdings, of which each relation lacks a share of its own. MissingByRelation tells
	// discover the shares.
	Seed              int64 `json:"seed"`
	MissingByRelation bool  `json:"missing_by_relation"`
	// Keep is a relation none of whose facts is removed.
	Keep string `json:"keep"`
	// Relations is the number of relations of the most facts that are listed; 0 lists all. Of the others no
	// removed facts count.
	Relations int `json:"relations"`
	// Model is the name of a model that tagnet comes with, which answers untrained.
	Model string `json:"model"`

	Split bool `json:"-"` // divides the rest with preprocess --split 90,5,5
}

// settings returns the settings, each without and, if a model is trained, with a split.
func (l List) settings() (all []Setting) {
	for _, s := range l.Settings {
		all = append(all, s)
		if s.Model == "" {
			s.Split = true
			all = append(all, s)
		}
	}
	return all
}

// Name returns the name of a setting's result.
func (s Setting) Name() string {
	name := fmt.Sprintf("%s-%d", s.Graph, s.Percent)
	if s.TutorialRemoval {
		name = s.Graph + "-own"
	}
	if s.Seed > 0 {
		name = fmt.Sprintf("%s-%d", s.Graph, s.Seed)
	}
	if s.MissingByRelation {
		name += "-shares"
	}
	if s.Keep != "" {
		name += "-" + s.Keep
	}
	if s.Split {
		name += "-split"
	}
	if s.Model != "" {
		name += "-" + s.Model
	}
	return name
}

// Measured is the name of the metrics in a result.
const Measured = "measured"

// removal has the facts of a setting that stay and those that are removed, as far as they are of the listed relations.
type removal struct {
	kept, removed []kg.Triple
	relations     string   // of the list, "all" or separated by commas
	missing       float64  // the share that was removed
	presumed      []string // flags that say so
}

// Runs returns the runs of the settings: each removes facts, and has a model, trained on the rest or not,
// list what that lacks.
func (l List) Runs(threads int) (runs []engine.Run, err error) {
	for _, s := range l.settings() {
		var r removal
		inputs := map[string]string{
			"graph": s.Graph, "percent": fmt.Sprint(s.Percent), "own": fmt.Sprint(s.TutorialRemoval), "keep": s.Keep,
			"relations": fmt.Sprint(s.Relations), "split": fmt.Sprint(s.Split), "train": l.Train,
			"seed": fmt.Sprint(s.Seed), "missing_by_relation": fmt.Sprint(s.MissingByRelation),
		}
		workspace := s.Name() + "/workspace"
		with := []string{"--workspace", workspace, "--threads", strconv.Itoa(threads), "--device", "cpu", "--memory", "4096"}
		tagnet := func(words ...string) engine.Words {
			return func(context.Context, string) ([]string, error) { return append([]string{"tagnet"}, words...), nil }
		}
		preprocess := []string{"preprocess", "--workspace", workspace, "--dataset", s.Name() + "/facts.tsv"}
		if s.Split {
			preprocess = append(preprocess, "--split", "90,5,5")
		}
		list := func(topK string) engine.Words {
			return func(ctx context.Context, work string) ([]string, error) {
				return tagnet(slices.Concat([]string{"discover", "--relation", r.relations, "--most", mostListed, "--top_k", topK,
					"--output", "list-" + topK}, r.presumed, with)...)(ctx, work)
			}
		}
		commands := []engine.Command{
			{Make: func(ctx context.Context, work string) (any, error) {
				return nil, s.remove(ctx, filepath.Join(work, s.Name()), &r)
			}},
			{Words: tagnet(preprocess...)},
			{Words: tagnet(slices.Concat([]string{"train"}, strings.Fields(l.Train), with)...), Training: workspace + "/runs/main"},
			{Words: list("10")},
			{Name: Measured, Make: func(ctx context.Context, work string) (any, error) {
				return s.compare(ctx, filepath.Join(work, workspace), r)
			}},
		}
		if s.Graph == "crowd" {
			commands = slices.Insert(commands, 4, engine.Command{Words: list("100")})
		}
		if s.Model != "" { // instead of a training
			known, err := zoo.Open(s.Model)
			if err != nil {
				return nil, err
			}
			commands = slices.Delete(commands, 2, 3)
			with = append(with, "--model", s.Model)
			inputs["train"], inputs["weights"] = "", known.Record.Weights.SHA256
		}
		runs = append(runs, engine.Run{Name: s.Name(), Commands: commands, Inputs: inputs, Clean: []string{s.Name()}})
	}
	return runs, nil
}

// mostListed is more facts than have a probability worth a look; those beyond would all be in the first bin.
const mostListed = "1000000"

// remove removes facts, and writes these and those that stay.
func (s Setting) remove(ctx context.Context, folder string, r *removal) error {
	if s.Seed > 0 {
		made, _ := synthetic.Holdings(s.Seed)
		r.kept, r.removed = made.Train, made.Missing
	} else if err := s.takeOut(ctx, filepath.Join(folder, "sample"), r); err != nil {
		return err
	}
	r.missing = float64(len(r.removed)) / float64(len(r.kept))
	r.presume(s.MissingByRelation)
	if err := write(ctx, filepath.Join(folder, "removed.tsv"), r.removed); err != nil {
		return err
	}
	if r.relations = "all"; s.Relations > 0 {
		most := mostFacts(r.kept, s.Relations)
		r.relations = strings.Join(most, ",")
		r.removed = slices.DeleteFunc(r.removed, func(f kg.Triple) bool { return !slices.Contains(most, f.Relation) })
	}
	return write(ctx, filepath.Join(folder, "facts.tsv"), r.kept)
}

// takeOut removes facts of a source.
func (s Setting) takeOut(ctx context.Context, scratch string, r *removal) error {
	read := sources[s.Graph]
	if read == nil {
		return fmt.Errorf("no graph is named %q: want one of %s", s.Graph, strings.Join(slices.Sorted(maps.Keys(sources)), ", "))
	}
	all, err := read(ctx, scratch)
	if err != nil {
		return err
	}
	if s.TutorialRemoval {
		r.kept, err = sample("sample", "train.txt", "valid.txt")(ctx, scratch)
		r.removed = slices.DeleteFunc(all, func(f kg.Triple) bool { return slices.Contains(r.kept, f) })
	} else {
		r.kept, r.removed = remove(all, float64(s.Percent)/100, s.Keep)
	}
	return err
}

// presume sets the flags that say which share is missing, byRelation that of each.
func (r *removal) presume(byRelation bool) {
	r.presumed = []string{"--missing", fmt.Sprintf("%.4f", r.missing)}
	kept, removed := relationCounts(r.kept), relationCounts(r.removed)
	for _, relation := range slices.Sorted(maps.Keys(kept)) {
		if n := kept[relation]; byRelation && n >= leastCounted {
			r.presumed = append(r.presumed, "--missing", fmt.Sprintf("%s=%.4f", relation, float64(removed[relation])/float64(n)))
		}
	}
}

func relationCounts(facts []kg.Triple) map[string]int {
	count := map[string]int{}
	for _, f := range facts {
		count[f.Relation]++
	}
	return count
}

func mostFacts(facts []kg.Triple, n int) []string {
	count := relationCounts(facts)
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return names[:min(n, len(names))]
}

// compare reads the lists of a workspace, and compares them with what was removed.
func (s Setting) compare(ctx context.Context, workspace string, r removal) (*result, error) {
	read := func(topK string) (list []parquet.Fact, err error) {
		err = parquet.EachPart(ctx, filepath.Join(workspace, "runs/main/facts/list-"+topK, "facts"), func(rows []parquet.Fact) error {
			list = append(list, rows...)
			return nil
		})
		return list, err
	}
	list, err := read("10")
	if err != nil {
		return nil, err
	}
	learned, err := learn(ctx, r)
	if err != nil {
		return nil, err
	}
	m := measure(list, learned, r.removed)
	m.Facts, m.Missing, m.LargestSum = len(r.kept), r.missing, largestSum(list, r.kept)
	if s.Graph == "crowd" {
		if list, err = read("100"); err != nil {
			return nil, err
		}
		m.Wide = &measure(list, nil, r.removed).Precisions[2].List
	}
	if s.Keep == "is_a" {
		heads, err := hidden(ctx, workspace, s.Keep)
		if err != nil {
			return nil, err
		}
		m.Parents = ofParents(list, r.kept, heads)
	}
	return &m, nil
}

// hidden returns the heads of a relation's facts that --split keeps from training.
func hidden(ctx context.Context, workspace, relation string) (map[string]bool, error) {
	url := storage.Join(workspace, kg.Folder)
	made, err := manifest.Read(ctx, url)
	if err != nil {
		return nil, err
	}
	graph, err := kg.Load(ctx, url, made)
	if err != nil || !graph.IsDivided() {
		return nil, err
	}
	queries, err := graph.HeldOut(ctx)
	heads := map[string]bool{}
	for _, q := range queries {
		if int(q.Relation) < len(graph.Relations) && graph.Relations[q.Relation] == relation {
			heads[graph.Inference.Entities[q.Source]] = true
		}
	}
	return heads, err
}
