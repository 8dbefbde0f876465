package encode

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// SizesOf returns Sizes for a graph that is loaded, or whose parts are read.
func SizesOf(ctx context.Context, k *kg.KG, split string) (budget.Sizes, error) {
	s, err := Sizes(ctx, k.Folder(), k.Manifest, split)
	s.Outlined = k.Train.Graph.IsOutline()
	return s, err
}

// Sizes returns the sizes of the graph on which a split is queried, and of the split's queries, without loading
// the graph. Of Sources it returns a bound. The split may be kg.All: then Edges is a bound, too, and the graphs
// in memory are the ones of the splits and the one of all facts. The caller has called kg.Check. The process
// reads the names once.
func Sizes(ctx context.Context, folder string, m manifest.Manifest, split string) (budget.Sizes, error) {
	nameBytes, err := worker.Load(worker.Key{Kind: "names", URL: folder}, m.Checksum, func() (int64, error) { return kg.NameBytes(ctx, folder, m) })
	if err != nil {
		return budget.Sizes{}, err
	}
	summary, err := counts.ReadDataset(ctx, folder)
	if err != nil {
		return budget.Sizes{}, err
	}
	if entities := m.Rows["entities"]; summary.Entities != entities {
		err := fmt.Errorf("%s says %d entities, the manifest %d: %w", storage.Join(folder, counts.SummaryFile), summary.Entities, entities, manifest.ErrDamaged)
		return budget.Sizes{}, manifest.Confirm(ctx, folder, m.Checksum, err)
	}
	queried := split
	if split == kg.All {
		queried = "test"
	}
	// The graph of the split, and all graphs that are in memory with it.
	s := budget.Sizes{
		Entities: summary.Entities, Edges: m.Rows["edges"], Relations: 2 * summary.Relations,
		Queries: summary.Queries[split], Distinct: summary.Distinct[split],
	}
	entities, edges := s.Entities, s.Edges // of the graphs in memory
	answers := 2*summary.Background + summary.Queries["train"] + summary.Queries["valid"] + summary.Queries["test"]
	if inference := summary.InferenceGraph; inference != nil {
		more := m.Rows["inference_edges"]
		entities, edges = entities+inference.Entities, edges+more
		if kg.OnInference(m, queried) {
			s.Entities, s.Edges = inference.Entities, more
			answers += more
		}
	}
	// The graph of all facts is made beside the others.
	if split == kg.All {
		s.Edges += summary.Queries["test"] + 2*summary.Background
		if kg.OnInference(m, "valid") == kg.OnInference(m, queried) {
			s.Edges += summary.Queries["valid"]
		}
		entities, edges = entities+s.Entities, edges+s.Edges
	}
	s.Sources = min(s.Entities, s.Distinct)
	const perEntity, perEdge, perAnswer = 24, 8, 20 // offsets and a name; sender and relation; an answer, alone in a list or with others
	files := int64(max(1, len(kg.EdgeFiles(m, queried))))
	s.Graph = nameBytes + perEntity*(entities+s.Relations) + perEdge*edges + 12*edges/files + perAnswer*answers // a file of edges while it is read
	return s, nil
}
