package train

import (
	"context"

	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// checkBundles returns an error if --bundles is given for a training that needs the graph. The configuration is known.
func (f *flags) checkBundles() error {
	switch c := f.configuration; {
	case !f.bundles:
		return nil
	case c.Reach == 0:
		return command.Usage("--bundles reads the parts of the graph that queries propagate through with --reach, and that is 0: add --reach, or leave --bundles out")
	case c.SeveralAnswers():
		return command.Usage("--bundles with --answers_per_query %d: the parts of the graph are for queries of one answer; leave one of the two out", c.AnswersPerQuery)
	case f.origin.from != "":
		return command.Usage("--bundles with --from: a training from parts of the graph begins with initial weights; leave one of the two out")
	case c.Source() == configuration.RelationsGraph:
		return command.Usage("--bundles with --relations graph: the graph of relations is made from all edges; leave one of the two out")
	}
	return nil
}

// bundlesURL returns the folder of folders of parts of the graph, or "" without --bundles.
func (t *trainer) bundlesURL() string {
	if !t.bundles {
		return ""
	}
	return t.e.Workspace.Path(workspace.BundlesFolder(""))
}

// openBundles returns an error unless all parts of the graph are there that the training reads.
func (t *trainer) openBundles(ctx context.Context) error {
	if !t.bundles {
		return nil
	}
	graphs := []*kg.View{t.loaded.Train}
	if t.valid > 0 {
		graphs = append(graphs, t.loaded.Of("valid"))
	}
	for _, on := range graphs {
		if n := on.Graph.Entities; t.configuration.Reach >= n {
			return command.Usage("--bundles with --reach %d: the graph has %d entities, and queries propagate through all; leave --bundles out", t.configuration.Reach, n)
		}
	}
	data, err := t.params("").ReadData(ctx)
	if err != nil {
		return err
	}
	return data.Close()
}
