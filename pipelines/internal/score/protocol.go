package score

import (
	"context"
	"fmt"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/workload"
	"tagnet/pipelines/internal/cli/command"
)

func protocolUsage() string {
	usage := fmt.Sprintf("what is ranked among what; %s: the facts of --split, among all entities", metrics.Test)
	for _, p := range metrics.Protocols[1:] {
		usage += fmt.Sprintf("; %s: %s", p, metrics.Protocol(p).About())
	}
	return usage
}

// evaluates returns the protocol of the evaluation, "" for metrics.Test.
func (f *flags) evaluates() metrics.Protocol {
	if p := metrics.Protocol(f.protocol); p != metrics.Test {
		return p
	}
	return ""
}

// name returns the name of the folder of the evaluation: the protocol's, or the split's for the usual protocol.
func (f *flags) name() string {
	if p := f.evaluates(); p != "" {
		return string(p)
	}
	return f.split
}

// seed returns the seed of the entities that answers are ranked among, 0 where these are all entities.
func (a *evaluating) seed() int64 {
	if a.flags.evaluates().Negatives() > 0 {
		return a.E.Seed
	}
	return 0
}

// selection returns which queries are ranked: those that the pipeline reads are those that the plan counts.
func (a *evaluating) selection() workload.Params {
	p := a.Queries(1)
	p.Parts, p.Protocol, p.Seed, p.Limit = a.flags.parts, a.flags.evaluates(), a.seed(), a.flags.limit
	return p
}

// count counts the queries, which are at least one, and the pairs (source, relation) of these, which follow each other.
// A limit that takes all is none.
func (a *evaluating) count(ctx context.Context) error {
	merged := a.flags.evaluates() == metrics.ValidAndTest
	if merged && !a.Loaded.Inductive() {
		return command.Usage("--protocol %s is for an inductive dataset: this one has no inference graph, and its validation facts chose the checkpoint",
			a.flags.protocol)
	}
	rows, all, err := workload.Rows(ctx, a.Loaded, a.selection())
	switch {
	case err != nil:
		return err
	case len(rows) == 0 && !merged && len(a.Loaded.Unknown) == 0:
		return command.NoQueries(a.flags.split, "ask answers queries of your own; choose another --split")
	case len(rows) == 0:
		return command.NoQueries(a.flags.split, "the model knows none of their relations: choose another --model or --split")
	case merged:
		test, err := a.Loaded.Queries(ctx, a.flags.split)
		if err != nil {
			return err
		}
		if all == int64(len(test)) {
			return fmt.Errorf("--protocol %s: the inference graph has no validation facts: put some into its valid.txt and "+
				"preprocess again, or leave the flag out", a.flags.protocol)
		}
	}
	if a.flags.limit >= all {
		a.flags.limit = 0
	}
	a.queries = int64(len(rows))
	for i, q := range rows {
		if i == 0 || q.Source != rows[i-1].Source || q.Relation != rows[i-1].Relation {
			a.distinct++
		}
	}
	return nil
}
