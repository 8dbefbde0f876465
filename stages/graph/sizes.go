package graph

import (
	"context"
	"fmt"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/stages/worker"
)

// Sizes returns the sizes of the graph on which a split is queried, and of the split's queries, from the
// manifest, the summary and the names of a graph/ folder. Of Sources it returns a bound.
func Sizes(ctx context.Context, folder string, m manifest.Manifest, split string) (budget.Sizes, error) {
	if err := kg.Check(ctx, folder, m); err != nil {
		return budget.Sizes{}, err
	}
	summary, err := ReadSummary(ctx, folder)
	if err != nil {
		return budget.Sizes{}, err
	}
	if entities := m.Rows["entities"]; summary.Entities != entities {
		return budget.Sizes{}, fmt.Errorf("%s says %d entities, the manifest %d: %w", storage.Join(folder, kg.SummaryFile), summary.Entities, entities, manifest.ErrDamaged)
	}
	s := budget.Sizes{
		Entities: summary.Entities, Edges: m.Rows["edges"], Relations: 2 * summary.Relations,
		LoadedEntities: summary.Entities, LoadedEdges: m.Rows["edges"],
		Queries: summary.Queries[split], Distinct: summary.Distinct[split],
		EdgeFiles: int64(len(kg.EdgeFiles(m, split))),
	}
	if inference := summary.InferenceGraph; inference != nil {
		s.LoadedEntities += inference.Entities
		s.LoadedEdges += m.Rows["inference_edges"]
		if split == "test" {
			s.Entities, s.Edges = inference.Entities, m.Rows["inference_edges"]
			s.Answers, s.AnswerLists = s.Edges, s.Edges
		}
	}
	for _, split := range kg.Splits {
		s.Answers += summary.Queries[split]
		s.AnswerLists += summary.Distinct[split]
	}
	s.Answers += 2 * summary.Background
	s.AnswerLists += 2 * summary.Background
	s.Sources = min(s.Entities, s.Distinct)
	s.NameBytes, err = worker.Load(worker.Key{Kind: "names", URL: folder}, m.Checksum, func() (int64, error) { return nameBytes(ctx, folder, m) })
	return s, err
}

// nameBytes returns the length of all names. Names may be much longer than their file, which is compressed.
func nameBytes(ctx context.Context, folder string, m manifest.Manifest) (length int64, err error) {
	for _, f := range m.Files {
		schema, ok := map[string]string{kg.EntitiesFile: tables.Entities, kg.RelationsFile: tables.Relations, kg.InferenceEntitiesFile: tables.Entities}[f.Name]
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
