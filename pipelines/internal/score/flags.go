package score

import (
	"flag"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

type flags struct {
	scoring.Flags
	split, protocol string
	limit           int64
	bundles         bool
	parts           parts.RequiredFolder // of the graph, of --bundles; its zero value stands for the graph
}

// Pipeline returns the score command.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "score",
		Summary: "Evaluates a trained model: ranks the answers of a split's queries, and computes metrics.",
		First:   "workspace run split protocol limit model reach top_k force device memory threads",
		Flags: func(set *flag.FlagSet) {
			command.Choice(set, &f.split, "split", "test", kg.Splits, "the split whose queries are ranked")
			command.Choice(set, &f.protocol, "protocol", string(metrics.Test), metrics.Protocols, protocolUsage())
			set.Int64Var(&f.limit, "limit", 0,
				"most queries that are ranked, spread evenly over all: the metrics come with 95% intervals; 0 or more, 0 takes all")
			set.BoolVar(&f.bundles, "bundles", false,
				"read the queries, with the parts of the graph that they propagate through, from the folder that bundle wrote for the model's reach, and "+
					"hold no graph; changes no result")
			f.Register(set, "best answers kept for each query, 0 or more")
		},
		Run: f.run,
	}
}

func (f *flags) check(e *command.Environment) error {
	if f.evaluates() != "" && f.split != "test" {
		return command.Usage("--protocol %s ranks answers to test queries: leave --split %s out, or --protocol", f.protocol, f.split)
	}
	if f.limit < 0 {
		return command.FlagError("limit", f.limit, "0 or more")
	}
	if err := f.Check(e, 0); err != nil {
		return err
	}
	return f.checkBundles()
}
