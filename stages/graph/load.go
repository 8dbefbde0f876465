package graph

import (
	"context"

	"tagnet/formats/manifest"
	"tagnet/model/kg"
	"tagnet/stages/worker"
)

// Load reads a graph/ folder as kg.Load does, once per process and version of the folder, so that
// many DoFns may call it. The manifest's checksum tells versions apart.
func Load(folder string) (*kg.KG, error) {
	ctx := context.Background()
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	return worker.Load(worker.Key{Kind: "graph", URL: folder}, m.Checksum, func() (*kg.KG, error) {
		return kg.Load(ctx, folder, m)
	})
}
