package encode

import (
	"context"
	"fmt"

	"tagnet/formats/workspace/manifest"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// Load reads a graph/ folder as kg.Load does, once per process and version of the folder, so that many DoFns may call
// it. The manifest's checksum tells versions apart. A load that its ctx cancels is not kept: a caller who waited for it
// loads the graph with a context of its own. Facts of the relations without are left out, as kg.KG.Without says.
func Load(ctx context.Context, folder string, without ...string) (*kg.KG, error) {
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	if len(without) > 0 {
		return worker.Load(worker.Key{Kind: "known graph", URL: folder}, m.Checksum+fmt.Sprintf("%q", without), func() (*kg.KG, error) {
			whole, err := Load(ctx, folder)
			if err != nil {
				return nil, err
			}
			worker.Forget("graph") // memory need not hold both
			return whole.Without(ctx, without)
		})
	}
	return worker.Load(worker.Key{Kind: "graph", URL: folder}, m.Checksum, func() (*kg.KG, error) {
		return kg.Load(ctx, folder, m)
	})
}

// Open returns the graph of Load or, if outline is true, the outline of kg.Outline, once per process and version too.
func Open(ctx context.Context, folder string, outline bool, without ...string) (*kg.KG, error) {
	if !outline {
		return Load(ctx, folder, without...)
	}
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	return worker.Load(worker.Key{Kind: "outline", URL: folder}, m.Checksum, func() (*kg.KG, error) {
		return kg.Outline(ctx, folder, m)
	})
}
