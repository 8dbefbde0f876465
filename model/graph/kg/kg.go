package kg

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
)

// KG is a knowledge graph that Load read from its folder. Queries and known answers are read on first use.
// It may be used concurrently; callers must not change what its fields refer to.
type KG struct {
	// Train is the graph for queries of train and valid, Inference the one for queries of test and for
	// new queries. They are the same pointer in the transductive setting.
	Train, Inference *View
	// Relations has the base relations' names by id; relation r+len(Relations) is the inverse of r.
	Relations []string
	// Unknown are the base relations whose facts Without left out.
	Unknown []string
	// Vocabulary is the hash of the training graph's entity names and the relations' names.
	Vocabulary string
	// Manifest is the folder's manifest.
	Manifest manifest.Manifest

	ids renumbering // of Without

	version
	allMu sync.Mutex
	all   *View // of AllFacts

	mu      sync.Mutex
	facts   []graph.Fact // of training
	queries map[string][]graph.Query
}

// version is a folder with the manifest that it had when its graph was loaded. Its other tables are read later, when
// another graph, with other ids, may have replaced it. Facts in memory have the zero value.
type version struct{ folder, checksum string }

// confirm returns the error of reading a table, or nil, or a *manifest.Replaced error if the folder
// has another graph now.
func (v version) confirm(ctx context.Context, err error) error {
	if v.folder == "" {
		return err
	}
	return manifest.Confirm(ctx, v.folder, v.checksum, err)
}

// View is one graph of a KG with the names of its entities: the training graph or the inference graph.
type View struct {
	// Graph has the edges; Entities has the entities' names by id.
	Graph    *graph.Graph
	Entities []string

	answers *answers
	types   types
	named   string // the file of names of an outline
	leftOut int    // entities of facts that Without left out alone
}

// Answers returns all known answers of the graph's queries, for filtered ranks, read on first use.
func (v *View) Answers(ctx context.Context) (tables.Answers, error) { return v.answers.read(ctx) }

// answers is a table of known answers that is read once. A failed read is tried again by the next caller.
type answers struct {
	version
	url    string
	view   *View // whose ids they have
	ids    renumbering
	mu     sync.Mutex
	loaded bool
	known  tables.Answers
}

// read returns the known answers, which it reads once.
func (a *answers) read(ctx context.Context) (tables.Answers, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loaded {
		return a.known, nil
	}
	known, err := tables.ReadAnswers(ctx, a.url)
	if err = a.confirm(ctx, err); err != nil {
		return tables.Answers{}, err
	}
	known = a.ids.answers(known)
	if err := checkAnswers(known, a.view.Graph); err != nil {
		return known, fmt.Errorf("reading %s: %w", a.url, err)
	}
	a.known, a.loaded = known, true
	return known, nil
}

// Folder returns the URL of the graph's folder, or "" for facts in memory.
func (k *KG) Folder() string { return k.folder }

// Inductive reports whether queries of test are about another graph than the training graph.
func (k *KG) Inductive() bool { return k.Train != k.Inference }

// View returns the graph that a split's queries are about: the inference graph for test, and for valid if preprocess
// was told so, else the training graph.
func (k *KG) View(split string) *View {
	if split == "test" || OnInference(k.Manifest, split) {
		return k.Inference
	}
	return k.Train
}

// All names the graph of all facts, in place of a split, whose name stands for the graph of its queries.
const All = "all"

// On returns the graph of AllFacts for All, and View for a split.
func (k *KG) On(ctx context.Context, name string) (*View, error) {
	if name == All {
		return k.AllFacts(ctx)
	}
	return k.View(name), nil
}

// IsDivided reports whether preprocess drew the facts of validation and test from one file. Facts in files of their own
// may have been chosen.
func (k *KG) IsDivided() bool {
	var recorded struct {
		Split string `json:"split"`
	}
	return json.Unmarshal(k.Manifest.Configuration, &recorded) == nil && recorded.Split != ""
}
