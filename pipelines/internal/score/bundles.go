package score

import (
	"context"

	"tagnet/model/engine/parts"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// checkBundles returns an error if --bundles is given with what needs the graph.
func (f *flags) checkBundles() error {
	switch {
	case !f.bundles:
	case f.evaluates() != "":
		return command.Usage("--bundles with --protocol: parts of the graph answer the queries of a split among all entities; leave one of the two out")
	case f.split == parts.Train: // whose parts are numbered by fact, one for each query
		return command.Usage("--bundles with --split %s: the parts for training are found without the fact of each query, which "+
			"scoring has; leave one of the two out", f.split)
	}
	return nil
}

// openBundles returns an error if the model needs the graph, or unless the parts of the graph are there that its
// queries propagate through.
func (a *evaluating) openBundles(ctx context.Context) error {
	switch c, n := a.Model.Configuration, a.View.Graph.Entities; {
	case !a.flags.bundles:
		return nil
	case c.Source() == configuration.RelationsGraph:
		return command.Usage("--bundles with a model of --relations graph: the graph of relations is made from all edges; leave --bundles out")
	case c.Reach == 0:
		return command.Usage("--bundles reads the parts of the graph that queries propagate through with a reach, and the model has none: give --reach, or " +
			"leave --bundles out")
	case c.Reach >= n:
		return command.Usage("--bundles with reach %d: the graph has %d entities, and queries propagate through all; leave --bundles out", c.Reach, n)
	}
	c := a.Model.Configuration
	a.flags.parts = parts.RequiredFolder{
		URL: a.E.Workspace.Path(workspace.BundlesFolder(parts.Name(a.flags.split, c.Reach, c.Layers))),
		Requirements: parts.Requirements{Split: a.flags.split, Reach: c.Reach, Layers: c.Layers, Remove: c.Remove, Limit: a.flags.limit,
			Graph: a.Loaded.Manifest.Checksum},
	}
	folder, err := a.flags.parts.Open(ctx)
	if err != nil {
		return err
	}
	return folder.Close()
}
