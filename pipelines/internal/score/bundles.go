package score

import (
	"context"
	"flag"

	"tagnet/model/engine/device"
	"tagnet/model/graph/parts"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// bundlesFlag reads the queries of a split with the parts of the graph that they propagate through.
type bundlesFlag struct {
	bundles bool
	parts   parts.Place // its zero value stands for the graph
}

func (f *bundlesFlag) register(set *flag.FlagSet) {
	set.BoolVar(&f.bundles, "bundles", false, "read the queries of the split, with the parts of the graph that they propagate through, from the folder that bundle wrote for the model's reach, and hold no graph; changes no result")
}

// checkBundles returns an error if --bundles is given with what needs the graph.
func (f *flags) checkBundles() error {
	if !f.bundles {
		return nil
	}
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"queries", f.queries != ""}, {"relation", f.relation != ""}, {"facts", f.facts != ""},
		{"model", f.weightsFlags.model != ""}, {"protocol", f.evaluates() != ""},
	} {
		if other.given {
			return command.Usage("--bundles with --%s: parts of the graph answer the queries of a split by a trained model; leave one of the two out", other.flag)
		}
	}
	if f.split == parts.Train { // whose parts are numbered by fact, one for each query
		return command.Usage("--bundles with --split %s: the parts for training are found without the fact of each query, which scoring has; leave one of the two out", f.split)
	}
	return nil
}

// openBundles returns an error unless the parts of the graph are there that the model's queries propagate through.
func (a *opened) openBundles(ctx context.Context) error {
	if !a.bundles {
		return nil
	}
	c := a.model.Configuration
	if err := a.refuseBundles(); err != nil {
		return err
	}
	if a.device.Mode == device.Auto {
		a.device = device.Choice{} // the CPU: a device needs the edges of the graph
	}
	a.parts = parts.Place{
		URL:  a.e.Workspace.Path(workspace.BundlesFolder(parts.Name(a.split, c.Reach, c.Layers))),
		Want: parts.Want{Split: a.split, Reach: c.Reach, Layers: c.Layers, Remove: c.Remove, Limit: a.limit, Graph: a.loaded.Manifest.Checksum},
	}
	folder, err := a.parts.Open(ctx)
	if err != nil {
		return err
	}
	return folder.Close()
}

// canBundle reports whether --bundles may be added.
func (a *opened) canBundle() bool {
	added := *a.flags
	added.bundles = true
	return !a.bundles && added.checkBundles() == nil && a.refuseBundles() == nil
}

// refuseBundles returns an error if the model needs the graph.
func (a *opened) refuseBundles() error {
	switch c, n := a.model.Configuration, a.view.Graph.Entities; {
	case c.Source() == configuration.RelationsGraph:
		return command.Usage("--bundles with a model of --relations graph: the graph of relations is made from all edges; leave --bundles out")
	case c.Reach == 0:
		return command.Usage("--bundles reads the parts of the graph that queries propagate through with a reach, and the model has none: give --reach, or leave --bundles out")
	case c.Reach >= n:
		return command.Usage("--bundles with reach %d: the graph has %d entities, and queries propagate through all; leave --bundles out", c.Reach, n)
	}
	return nil
}
