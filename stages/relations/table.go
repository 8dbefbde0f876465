package relations

import (
	"context"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// TableFile is the name of the table.
const TableFile = "edges.arrow"

// write writes the table and emits its URL.
func (p Params) write(ctx context.Context, g *relations.Graph, emit func(string)) error {
	ctx = p.Lock.Guard(ctx)
	url := storage.Join(p.Folder, TableFile)
	w, err := tables.CreateRelationGraph(ctx, url, g.Relations())
	if err != nil {
		return err
	}
	defer w.Abort()
	for e := range g.All {
		if err := w.Write(tables.RelationEdge(e)); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(url)
	return nil
}

// Read reads a table of edges between the relations, with inverses, of a graph with baseRelations relations. It verifies that they
// are the edges of a relation graph. Errors name the file and the row.
func Read(ctx context.Context, url string, baseRelations int) (*relations.Graph, error) {
	r := relations.NewReader(baseRelations)
	start := func(relations int) error {
		if relations != 2*baseRelations {
			return fmt.Errorf("it is about %d relations, the graph has %d with inverses", relations, 2*baseRelations)
		}
		return nil
	}
	err := tables.EachRelationEdge(ctx, url, start, func(e tables.RelationEdge) error { return r.Add(relations.Edge(e)) })
	if err != nil {
		return nil, err
	}
	g, err := r.Graph()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	return g, nil
}

// Load reads the relation graph in a folder of a workspace, once per process and version of the folder. It must have been made from
// the graph that is loaded. Without a folder it returns nil: the model needs none.
func Load(ctx context.Context, folder string, loaded *kg.KG) (*relations.Graph, error) {
	if folder == "" {
		return nil, nil
	}
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	if m.Inputs[kg.Folder] != loaded.Manifest.Checksum {
		return nil, fmt.Errorf("%s was made from another version of the graph: does another run write to the same workspace? Run again", folder)
	}
	return worker.Load(worker.Key{Kind: "relation graph", URL: folder}, m.Checksum, func() (*relations.Graph, error) {
		return Read(ctx, storage.Join(folder, TableFile), len(loaded.Relations))
	})
}
