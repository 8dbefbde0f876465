package score

import (
	"context"
	"fmt"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/stages/encode"
)

// protocolUsage explains --protocol.
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

// count counts the queries, which are at least one.
func (a *evaluating) count(ctx context.Context) error {
	// The usual protocol needs only the counts, unless it draws a sample.
	if a.flags.evaluates() != metrics.ValidAndTest && len(a.Loaded.Unknown) == 0 {
		sizes, err := encode.SizesOf(ctx, a.Loaded, a.flags.split)
		if err == nil && sizes.Queries == 0 {
			err = command.NoQueries(a.flags.split, "ask answers queries of your own; choose another --split")
		}
		if err != nil {
			return err
		}
		if a.all = sizes.Queries; a.flags.limit == 0 || a.flags.limit >= a.all { // the table need not be read
			a.queries, a.distinct, a.flags.limit = sizes.Queries, sizes.Distinct, 0
			return nil
		}
		queries, err := a.Loaded.Queries(ctx, a.flags.split)
		a.take(queries)
		return err
	}
	if a.flags.evaluates() == metrics.ValidAndTest && !a.Loaded.Inductive() {
		return command.Usage("--protocol %s is for an inductive dataset: this one has no inference graph, and its validation facts chose the checkpoint", a.flags.protocol)
	}
	// Validation and test facts together, or a split from which facts of unknown relations are left out.
	test, err := a.Loaded.Queries(ctx, a.flags.split)
	if err != nil {
		return err
	}
	queries := test
	if a.flags.evaluates() == metrics.ValidAndTest {
		queries, err = a.Loaded.HeldOut(ctx)
	}
	switch {
	case err != nil:
	case len(queries) == 0:
		err = command.NoQueries(a.flags.split, "the model knows none of their relations: choose another --model or --split")
	case a.flags.evaluates() == metrics.ValidAndTest && len(queries) == len(test):
		err = fmt.Errorf("--protocol %s: the inference graph has no validation facts: put some into its valid.txt and preprocess again, or leave the flag out", a.flags.protocol)
	}
	a.take(queries)
	return err
}

// take counts the queries of a table that --limit takes, and the pairs (source, relation) of these, which follow each other. A limit that takes all is
// none.
func (a *evaluating) take(queries []graph.Query) {
	if a.all = int64(len(queries)); a.flags.limit >= a.all {
		a.flags.limit = 0
	}
	var last graph.Query
	for i, q := range queries {
		if !workload.Takes(a.flags.limit, i, len(queries)) {
			continue
		}
		if a.queries == 0 || q.Source != last.Source || q.Relation != last.Relation {
			a.distinct++
		}
		a.queries, last = a.queries+1, q
	}
}
