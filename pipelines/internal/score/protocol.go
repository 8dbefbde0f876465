package score

import (
	"context"
	"flag"
	"fmt"

	"tagnet/formats/metrics"
	"tagnet/formats/tables"
	"tagnet/model/workload"
	"tagnet/pipelines/internal/command"
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

// evaluated returns the queries of the evaluation, which are at least one.
func (a *scoring) evaluated(ctx context.Context) (queries []tables.Query, err error) {
	if a.evaluates() != metrics.ValidAndTest {
		if queries, err = a.loaded.Queries(ctx, a.split); err == nil && len(queries) == 0 {
			err = command.NoQueries(a.split, "ask your own with --queries FILE or --relation NAME, choose another --split")
		}
		return queries, err
	}
	if !a.loaded.Inductive() {
		return nil, command.Usage("--protocol %s is for an inductive dataset: this one has no inference graph, and its validation facts chose the checkpoint", a.protocol)
	}
	test, err := a.loaded.Queries(ctx, a.split)
	if err != nil {
		return nil, err
	}
	if queries, err = a.loaded.HeldOut(ctx); err == nil && len(queries) == len(test) {
		err = fmt.Errorf("--protocol %s: the inference graph has no validation facts: put some into its valid.txt and preprocess again, or leave the flag out", a.protocol)
	}
	return queries, err
}

// sample returns the queries that --limit takes. A limit that takes all is none.
func (a *scoring) sample(queries []tables.Query) (taken []tables.Query) {
	if a.all = int64(len(queries)); a.limit >= a.all {
		a.limit = 0
	}
	for i, q := range queries {
		if workload.Takes(a.limit, i, len(queries)) {
			taken = append(taken, q)
		}
	}
	return taken
}

// distinct counts the pairs (source, relation) of queries in the order of their tables.
func distinct(queries []tables.Query) (n int64) {
	for i, q := range queries {
		if i == 0 || q.Source != queries[i-1].Source || q.Relation != queries[i-1].Relation {
			n++
		}
	}
	return n
}
