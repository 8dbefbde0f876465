package kg

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
)

// mostRowsPerByte bounds the edges that a byte of their compressed tables stands for.
const mostRowsPerByte = 1 << 12

// Check returns an error unless the counts in the manifest of a graph/ folder fit its tables: memory is
// estimated, and work divided, by them before the tables are read. Edges are only bounded by the size of their
// files here; Load counts them.
func Check(ctx context.Context, folder string, m manifest.Manifest) error {
	if err := checkRows(ctx, folder, m); err != nil {
		return manifest.Confirm(ctx, folder, m.Checksum, err)
	}
	return nil
}

// checkRows checks the manifest's numbers of entities and edges against the files, before anything of
// their size is allocated.
func checkRows(ctx context.Context, folder string, m manifest.Manifest) error {
	graphs := []struct{ prefix, entities, split string }{{"", EntitiesFile, "train"}}
	if isInductive(m) {
		graphs = append(graphs, struct{ prefix, entities, split string }{"inference_", InferenceEntitiesFile, "test"})
	}
	for _, g := range graphs {
		names, err := tables.CountNames(ctx, storage.Join(folder, g.entities), tables.Entities)
		if err != nil {
			return err
		}
		if rows := m.Rows[g.prefix+"entities"]; rows != names {
			return wrongCount(folder, fmt.Errorf("rows.%sentities is %d, %s has %d", g.prefix, rows, g.entities, names))
		}
		if err := strict.Between("rows."+g.prefix+"edges", m.Rows[g.prefix+"edges"], 2, mostRowsPerByte*edgeBytes(m, g.split)); err != nil {
			return wrongCount(folder, err)
		}
	}
	return nil
}

func wrongCount(folder string, err error) error {
	return fmt.Errorf("%s is %w: %w", storage.Join(folder, manifest.FileName), manifest.ErrDamaged, err)
}

// edgeBytes returns the size of the shards of edges of the graph that a split's queries are about.
func edgeBytes(m manifest.Manifest, split string) (bytes int64) {
	for _, f := range EdgeFiles(m, split) {
		bytes += f.Size
	}
	return bytes
}

// checkAnswers returns an error if a known answer, or its pair, has an id that the graph does not have.
func checkAnswers(known tables.Answers, g *graph.Graph) error {
	for i, source := range known.Sources {
		list := known.Lists[i]
		if len(list) == 0 || int(max(source, list[len(list)-1])) >= g.Entities || int(known.Relations[i]) >= g.RelationCount() {
			return fmt.Errorf("the known answers of (%d, %d) are none, or have an id that is not in the graph", source, known.Relations[i])
		}
	}
	return nil
}
