package preprocess

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/progress"
)

// heldOut says of how many validation and test facts the graph that the split is about has a fact of the same two
// entities, by which a model may find them, and warns of those about entities without a fact: no path leads to them.
func heldOut(ctx context.Context, folder string) (notes, warnings []string, err error) {
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	var joined []string
	for _, split := range kg.Splits[1:] {
		queries, err := kg.ReadQueries(ctx, storage.Join(folder, kg.QueriesFile(split)))
		if err != nil {
			return nil, nil, err
		}
		if len(queries) == 0 {
			continue
		}
		among := newHeldPairs(queries)
		// An entity with a fact is the tail of an edge.
		seen := make([]bool, kg.EntitiesOf(m, split))
		for _, file := range kg.EdgeFiles(m, split) {
			err := tables.EachEdges(ctx, storage.Join(folder, file.Name), func(e tables.Edges) error {
				for i, tail := range e.Tails { // of an edge or of its inverse: each entity of a fact is one
					seen[tail] = true
					among.join(e.Heads[i], tail)
				}
				return nil
			})
			if err != nil {
				return nil, nil, err
			}
		}
		joined = append(joined, split+" "+among.text())
		// The first unseen entity is named as an example.
		facts, first := int64(0), int32(-1)
		for _, q := range queries {
			if int64(q.Relation) >= m.Rows["relations"] || seen[q.Source] && seen[q.Answer] {
				continue
			}
			if facts++; first < 0 {
				if first = q.Source; seen[first] {
					first = q.Answer
				}
			}
		}
		if facts == 0 {
			continue
		}
		file, graph := kg.EntitiesFile, "training"
		if kg.OnInference(m, split) {
			file, graph = kg.InferenceEntitiesFile, "inference"
		}
		names, err := tables.NamesOf(ctx, storage.Join(folder, file), tables.Entities, []int32{first})
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, fmt.Sprintf("warning: %s of %s facts of %s (%s) are about an entity without a fact in the %s graph, such as %s: "+
			"no path leads there",
			progress.Count(facts), progress.Count(int64(len(queries)/2)), split, percent(float64(2*facts)/float64(len(queries))), graph,
			strconv.Quote(names[first])))
	}
	if len(joined) > 0 {
		notes = []string{"held-out facts of two entities that a fact of the graph joins: " + strings.Join(joined, ", ")}
	}
	return notes, warnings, nil
}
