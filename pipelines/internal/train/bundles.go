package train

import (
	"context"

	"tagnet/formats/storage/lock"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// bundlesURL returns the folder of folders of parts of the graph, or "" without --bundles.
func (p *plan) bundlesURL() string {
	if !p.bundles {
		return ""
	}
	return p.e.Workspace.Path(workspace.BundlesFolder(""))
}

// openBundles returns an error unless all parts of the graph are there that the training reads.
func (p *plan) openBundles(ctx context.Context) error {
	if !p.bundles {
		return nil
	}
	graphs := []*kg.View{p.loaded.Train}
	if p.valid > 0 {
		graphs = append(graphs, p.loaded.View("valid"))
	}
	for _, on := range graphs {
		if n := on.Graph.Entities; p.Reach >= n {
			return command.Usage("--bundles with --reach %d: the graph has %d entities, and queries propagate through all; leave --bundles out", p.Reach, n)
		}
	}
	data, err := p.params("", lock.Lock{}).ReadData(ctx)
	if err != nil {
		return err
	}
	return data.Close()
}
