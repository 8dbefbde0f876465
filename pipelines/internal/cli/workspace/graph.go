package workspace

import (
	"context"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
	"tagnet/stages/encode"
)

// HasQueries reports whether a split of the workspace's graph has queries. It takes the manifest's word, and yes for
// an answer where there is none.
func (w Workspace) HasQueries(ctx context.Context, split string) bool {
	m, err := manifest.Read(ctx, w.Graph())
	return err != nil || m.Rows[QueryRows(split)] > 0
}

// fewQueries is a number of queries that any model answers in a minute or so on a graph with as few.
const fewQueries = 100_000

// ListStep returns the command that lists what the workspace's graph lacks, or facts of its most frequent relation
// where there are many relations and entities to ask about.
func (w Workspace) ListStep(ctx context.Context) Command {
	names, err := tables.ReadNames(ctx, storage.Join(w.Graph(), kg.RelationsFile), tables.Relations)
	m, e := manifest.Read(ctx, w.Graph())
	if err == nil && e == nil && len(names) > 0 && 2*kg.EntitiesOf(m, "test")*len(names) > fewQueries {
		if most, err := w.mostFrequent(ctx, m, names); err == nil {
			return w.Command("discover", "--relation", names[most])
		}
	}
	list := w.Command("discover")
	if w.listInTheWay(ctx) {
		list = list.With("--force")
	}
	return list
}

// mostFrequent returns the relation with the most facts but that of types.
func (w Workspace) mostFrequent(ctx context.Context, m manifest.Manifest, relations []string) (most int, err error) {
	facts, types := make([]int64, len(relations)), kg.TypeRelation(m)
	for _, file := range kg.EdgeFiles(m, "train") {
		err := tables.EachEdges(ctx, storage.Join(w.Graph(), file.Name), func(e tables.Edges) error {
			for _, r := range e.Relations {
				if int(r) < len(relations) && relations[r] != types { // no inverse
					facts[r]++
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return slices.Index(facts, slices.Max(facts)), nil
}

// listInTheWay reports whether there is a list of all relations that discover keeps: of an earlier graph, or of another
// model than the best checkpoint and zero, whose list gives way.
func (w Workspace) listInTheWay(ctx context.Context) bool {
	folder := w.FactsFolder("all")
	there, err := w.EvaluatedCheckpoint(ctx, w.Path(folder))
	if err != nil {
		return false
	}
	best, unread := checkpoint.Folder(w.Checkpoints()).Record(ctx, checkpoint.BestFile)
	ofBest := unread == nil && there.GivenModel == nil && there.Weights == best.Weights.SHA256
	ofZero := there.GivenModel != nil && there.GivenModel.Model == zoo.Zero
	return !w.Complete(ctx, folder) || !ofBest && !ofZero
}

// QueryRows is the name of the number of a split's queries in the manifest of the graph.
func QueryRows(split string) string { return "queries_" + split }

// OpenGraph verifies and loads the workspace's graph, and returns it with the Inputs of folders that
// are made from it. If it is missing or damaged, the error names the command that makes it.
func (w Workspace) OpenGraph(ctx context.Context) (*kg.KG, map[string]string, error) {
	return w.Open(ctx, false)
}

// Open is OpenGraph, but with outline it leaves out the edges and the names of entities.
func (w Workspace) Open(ctx context.Context, outline bool) (*kg.KG, map[string]string, error) {
	m, err := w.Require(ctx, GraphFolder, w.Command("preprocess"))
	if err != nil {
		return nil, nil, err
	}
	loaded, err := encode.Open(ctx, w.Graph(), outline)
	switch {
	case err != nil:
		return nil, nil, manifest.Confirm(ctx, w.Graph(), m.Checksum, err)
	case loaded.Manifest.Checksum != m.Checksum:
		return nil, nil, &manifest.Replaced{Folder: w.Graph()}
	}
	return loaded, map[string]string{GraphFolder: m.Checksum}, nil
}
