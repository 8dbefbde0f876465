package graph

import (
	"context"

	"tagnet/formats/manifest"
	"tagnet/model/kg"
	"tagnet/stages/worker"
)

// Load reads a graph/ folder as kg.Load does, once per process and version of the folder, so that
// many DoFns may call it. The manifest's checksum tells versions apart. A load that its ctx cancels is not kept: a caller who waited
// for it loads the graph with a context of its own.
func Load(ctx context.Context, folder string) (*kg.KG, error) {
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	return worker.Load(worker.Key{Kind: "graph", URL: folder}, m.Checksum, func() (*kg.KG, error) {
		return kg.Load(ctx, folder, m)
	})
}
