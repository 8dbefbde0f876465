package score

import (
	"context"
	"flag"
	"fmt"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/pipelines/internal/cli/command"
	stagegraph "tagnet/stages/preprocess"
)

// protocolFlag is --protocol.
type protocolFlag struct{ protocol string }

func (f *protocolFlag) register(set *flag.FlagSet) {
	usage := fmt.Sprintf("what is ranked among what; %s: the facts of --split, among all entities", metrics.Test)
	for _, p := range metrics.Protocols[1:] {
		usage += fmt.Sprintf("; %s: %s", p, metrics.Protocol(p).About())
	}
	command.Choice(set, &f.protocol, "protocol", string(metrics.Test), metrics.Protocols, usage)
}

// checkProtocol validates the flag beside the others.
func (f *flags) checkProtocol() error {
	switch {
	case f.evaluates() == "":
		return nil
	case f.queries != "" || f.relation != "" || f.facts != "":
		return command.Usage("--protocol is about the queries of a split: leave it out with --queries, --relation and --facts")
	case f.split != "test":
		return command.Usage("--protocol %s ranks answers to test queries: leave --split %s out, or --protocol", f.protocol, f.split)
	}
	return nil
}

// evaluates returns the protocol of the evaluation, "" for that of metrics.Test.
func (f *flags) evaluates() metrics.Protocol {
	if p := metrics.Protocol(f.protocol); p != metrics.Test {
		return p
	}
	return ""
}

// name returns the name of the folder of the evaluation: that of the protocol, or of the split for the usual one.
func (f *flags) name() string {
	if p := f.evaluates(); p != "" {
		return string(p)
	}
	return f.split
}

// sampled returns the seed of the entities that answers are ranked among, 0 where these are all entities.
func (a *scoring) sampled() int64 {
	if a.evaluates().Negatives() > 0 {
		return a.e.Seed
	}
	return 0
}

// evaluated returns the number of queries of the evaluation, which are at least one, and counts distinct ones. --limit takes some of
// them.
func (a *scoring) evaluated(ctx context.Context) (int64, error) {
	if a.evaluates() != metrics.ValidAndTest && len(a.loaded.Unknown) == 0 {
		sizes, err := stagegraph.SizesOf(ctx, a.loaded, a.split)
		if err == nil && sizes.Queries == 0 {
			err = command.NoQueries(a.split, "ask your own with --queries FILE or --relation NAME, choose another --split")
		}
		if err != nil {
			return 0, err
		}
		sampled := a.sampleOf(sizes.Queries)
		if a.limit == 0 {
			a.distinct = sizes.Distinct
			return sizes.Queries, nil
		}
		queries, err := a.loaded.Queries(ctx, a.split)
		for _, q := range queries {
			sampled.add(q)
		}
		a.distinct = sampled.distinct
		return sampled.queries, err
	}
	if a.evaluates() == metrics.ValidAndTest && !a.loaded.Inductive() {
		return 0, command.Usage("--protocol %s is for an inductive dataset: this one has no inference graph, and its validation facts chose the checkpoint", a.protocol)
	}
	test, err := a.loaded.Queries(ctx, a.split)
	if err != nil {
		return 0, err
	}
	queries := test
	if a.evaluates() == metrics.ValidAndTest {
		queries, err = a.loaded.HeldOut(ctx)
	}
	switch {
	case err != nil:
	case len(queries) == 0:
		err = command.NoQueries(a.split, "the model knows none of their relations: choose another --checkpoint or --split")
	case a.evaluates() == metrics.ValidAndTest && len(queries) == len(test):
		err = fmt.Errorf("--protocol %s: the inference graph has no validation facts: put some into its valid.txt and preprocess again, or leave the flag out", a.protocol)
	}
	sampled := a.sampleOf(int64(len(queries)))
	for _, q := range queries {
		sampled.add(q)
	}
	a.distinct = sampled.distinct
	return sampled.queries, err
}

// sample counts the queries that --limit takes of so many, and the pairs (source, relation) of these, in the order of their tables.
type sample struct {
	limit, rows       int64
	row               int64
	last              graph.Query
	queries, distinct int64
}

// sampleOf returns the count of a sample of so many queries, before the first. A limit that takes all is none.
func (a *scoring) sampleOf(queries int64) *sample {
	if a.all = queries; a.limit >= a.all {
		a.limit = 0
	}
	return &sample{limit: a.limit, rows: queries}
}

// add counts the next query.
func (s *sample) add(q graph.Query) {
	if workload.Takes(s.limit, int(s.row), int(s.rows)) {
		if s.queries == 0 || q.Source != s.last.Source || q.Relation != s.last.Relation {
			s.distinct++
		}
		s.queries, s.last = s.queries+1, q
	}
	s.row++
}
