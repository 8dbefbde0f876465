package kg

import (
	"context"
	"fmt"
	"slices"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
)

// Load reads a graph/ folder with its manifest. The error of a damaged file names it.
func Load(ctx context.Context, folder string, m manifest.Manifest) (*KG, error) {
	k, err := load(ctx, folder, m)
	if err = manifest.Confirm(ctx, folder, m.Checksum, err); err != nil {
		return nil, err
	}
	return k, nil
}

// load reads the names and graphs of a folder with a complete manifest. Queries and known answers are read
// when they are needed.
func load(ctx context.Context, folder string, m manifest.Manifest) (*KG, error) {
	k := &KG{Manifest: m, version: version{folder, m.Checksum}, queries: map[string][]graph.Query{}}
	var err error
	if k.Relations, err = tables.ReadNames(ctx, storage.Join(folder, RelationsFile), tables.Relations); err != nil {
		return nil, err
	}
	if k.Train, err = readView(ctx, folder, m, "train", len(k.Relations)); err != nil {
		return nil, err
	}
	k.Inference = k.Train
	if isInductive(m) {
		if k.Inference, err = readView(ctx, folder, m, "test", len(k.Relations)); err != nil {
			return nil, err
		}
	}
	k.Vocabulary = manifest.VocabularyHash(k.Train.Entities, k.Relations)
	if m.Vocabulary != "" && k.Vocabulary != m.Vocabulary {
		return nil, fmt.Errorf("%s: its names have the hash %s, its manifest says %s", folder, k.Vocabulary, m.Vocabulary)
	}
	return k, nil
}

// readView reads the graph that a split's queries are about. Edges go from the shards straight into the CSR arrays.
func readView(ctx context.Context, folder string, m manifest.Manifest, split string, relations int) (*View, error) {
	entities, known := EntitiesFile, AnswersFile
	if OnInference(m, split) {
		entities, known = InferenceEntitiesFile, InferenceAnswersFile
	}
	v, rows := &View{}, EdgesOf(m, split)
	loaded := version{folder, m.Checksum}
	v.answers = &answers{version: loaded, url: storage.Join(folder, known), view: v}
	if file := typesFile(m, split); file != "" {
		v.types.version, v.types.url = loaded, storage.Join(folder, file)
	}
	var err error
	if v.Entities, err = tables.ReadNames(ctx, storage.Join(folder, entities), tables.Entities); err != nil {
		return nil, err
	}
	if n := EntitiesOf(m, split); len(v.Entities) != n || n == 0 || relations == 0 {
		return nil, wrongCount(folder, fmt.Errorf("it says %d entities, the tables have %d, and %d relations", n, len(v.Entities), relations))
	}
	// The manifest's number of edges is trusted up to the size of the files.
	b := graph.NewBuilder(len(v.Entities), relations, min(rows, mostRowsPerByte*edgeBytes(m, split)))
	for _, f := range EdgeFiles(m, split) {
		err := tables.EachEdges(ctx, storage.Join(folder, f.Name), func(e tables.Edges) error {
			for i, head := range e.Heads {
				if err := b.Add(head, e.Relations[i], e.Tails[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if v.Graph, err = b.Graph(); err != nil {
		return nil, fmt.Errorf("reading the edges of %s: %w", folder, err)
	}
	if edges := v.Graph.Edges(); edges != rows {
		return nil, wrongCount(folder, fmt.Errorf("it says %d edges, the tables have %d", rows, edges))
	}
	return v, nil
}

// Outline reads a graph/ folder with its manifest without its edges, the names of its entities and its known answers:
// they are graph.Outline, and View.Names finds names. Methods that need an edge fail.
func Outline(ctx context.Context, folder string, m manifest.Manifest) (*KG, error) {
	k := &KG{Manifest: m, Vocabulary: m.Vocabulary, version: version{folder, m.Checksum}, queries: map[string][]graph.Query{}}
	if m.Vocabulary == "" {
		return nil, remedy.Errorf(remedy.Run("preprocess", remedy.Flag("force")), "%s: its manifest has no vocabulary", folder)
	}
	var err error
	k.Relations, err = tables.ReadNames(ctx, storage.Join(folder, RelationsFile), tables.Relations)
	if err = k.confirm(ctx, err); err != nil {
		return nil, err
	}
	view := func(split, entities string) *View {
		return &View{Graph: graph.Outline(EntitiesOf(m, split), len(k.Relations), EdgesOf(m, split), 0, nil), named: storage.Join(folder, entities)}
	}
	k.Train = view("train", EntitiesFile)
	k.Inference = k.Train
	if isInductive(m) {
		k.Inference = view("test", InferenceEntitiesFile)
	}
	return k, nil
}

// Names returns the names of entities of a view. Of an outline it reads the names of ids alone.
func (v *View) Names(ctx context.Context, ids []int32) (func(entity int32) string, error) {
	if v.named == "" {
		return func(entity int32) string { return v.Entities[entity] }, nil
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	names, err := tables.NamesOf(ctx, v.named, tables.Entities, slices.Compact(ids))
	return func(entity int32) string { return names[entity] }, err
}
