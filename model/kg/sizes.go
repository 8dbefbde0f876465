package kg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/formats/counts"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/budget"
)

// Sizes returns the sizes of the graph on which a split is queried, and of the split's queries, from the
// manifest and the summary of a graph/ folder, whose names have so many bytes. Of Sources it returns a bound.
func Sizes(ctx context.Context, folder string, m manifest.Manifest, split string, nameBytes int64) (budget.Sizes, error) {
	summary, err := counts.ReadDataset(ctx, folder)
	if err != nil {
		return budget.Sizes{}, err
	}
	if entities := m.Rows["entities"]; summary.Entities != entities {
		err := fmt.Errorf("%s says %d entities, the manifest %d: %w", storage.Join(folder, counts.SummaryFile), summary.Entities, entities, manifest.ErrDamaged)
		return budget.Sizes{}, manifest.Confirm(ctx, folder, m.Checksum, err)
	}
	s := budget.Sizes{
		Entities: summary.Entities, Edges: m.Rows["edges"], Relations: 2 * summary.Relations,
		LoadedEntities: summary.Entities, LoadedEdges: m.Rows["edges"],
		Queries: summary.Queries[split], Distinct: summary.Distinct[split],
		EdgeFiles: int64(len(EdgeFiles(m, split))),
	}
	if inference := summary.InferenceGraph; inference != nil {
		s.LoadedEntities += inference.Entities
		s.LoadedEdges += m.Rows["inference_edges"]
		if OnInference(m, split) {
			s.Entities, s.Edges = inference.Entities, m.Rows["inference_edges"]
			s.Answers, s.AnswerLists = s.Edges, s.Edges
		}
	}
	for _, split := range Splits {
		s.Answers += summary.Queries[split]
		s.AnswerLists += summary.Distinct[split]
	}
	s.Answers += 2 * summary.Background
	s.AnswerLists += 2 * summary.Background
	s.Sources = min(s.Entities, s.Distinct)
	s.NameBytes = nameBytes
	return s, nil
}

// Sizes is the function Sizes for a graph that is loaded.
func (k *KG) Sizes(ctx context.Context, split string) (budget.Sizes, error) {
	bytes := int64(0)
	lists := [][]string{k.Train.Entities, k.Relations}
	if k.Inductive() {
		lists = append(lists, k.Inference.Entities)
	}
	for _, list := range lists {
		for _, name := range list {
			bytes += int64(len(name))
		}
	}
	s, err := Sizes(ctx, k.folder, k.Manifest, split, bytes)
	s.Outlined = k.Train.Graph.IsOutline()
	return s, err
}

// nameTables are the schemas of the tables of names.
var nameTables = map[string]string{EntitiesFile: tables.Entities, RelationsFile: tables.Relations, InferenceEntitiesFile: tables.Entities}

// NameBytes returns the length of all names. Names may be much longer than their file, which is compressed.
func NameBytes(ctx context.Context, folder string, m manifest.Manifest) (length int64, err error) {
	for _, f := range m.Files {
		schema, ok := nameTables[f.Name]
		if !ok {
			continue
		}
		err := tables.EachName(ctx, storage.Join(folder, f.Name), schema, func(name []byte) error {
			length += int64(len(name))
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return length, nil
}

// HashNames returns the hash of the names of the training graph's entities and of the relations
// of a graph/ folder, given their numbers. It reads the files without holding the names.
func HashNames(ctx context.Context, folder string, entities, relations int64) (string, error) {
	v := manifest.NewVocabulary()
	for _, kind := range []struct {
		file, schema string
		names        int64
	}{{EntitiesFile, tables.Entities, entities}, {RelationsFile, tables.Relations, relations}} {
		v.Count(kind.names)
		err := tables.EachName(ctx, storage.Join(folder, kind.file), kind.schema, func(name []byte) error {
			v.Add(name)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return v.Hex(), nil
}

// CountNames returns how many names the tables of names in a graph/ folder have that are written so far.
func CountNames(ctx context.Context, folder string) (sum int64, err error) {
	for file, schema := range nameTables {
		names, err := tables.CountNames(ctx, storage.Join(folder, file), schema)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		sum += names
	}
	return sum, nil
}
