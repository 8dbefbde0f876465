package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tagnet/model/answer"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/model/zoo"
)

// Discovery says which new facts Discover lists. Its zero value lists the 10,000 surest ones of all relations.
type Discovery struct {
	// Relations are names; none stands for all relations but that of types in a workspace, preprocess --type_relation.
	Relations []string
	// Most is the most facts that are listed; 0 stands for 10,000.
	Most int
	// Progress, which may be nil, is called with the number of answers that were scored, of at most the second number.
	Progress func(done, total int64)
}

const (
	mostDiscovered = 10_000
	// discoveredTogether is the number of queries whose candidates are in memory at a time, about 4 KiB for each.
	discoveredTogether = 1 << 14
)

// WithTraining makes Discover train a model on the facts, as Train does, in the place of zero.
func WithTraining(c configuration.Configuration, seed int64) Option {
	return func(o *options) { o.training, o.seed = &c, seed }
}

// Discover lists the facts that facts in memory lack most likely, the surest first, with probabilities unless
// there are too few facts (ErrTooFew of Fit): with zero, the foundation model that tagnet comes with, with the
// one of WithCheckpoint, or of WithTraining. To ask the model more, make it with LoadFacts or Train, and call its
// methods Fit and Discover.
func Discover(ctx context.Context, facts []Triple, d Discovery, list ...Option) (_ []ScoredTriple, err error) {
	o, err := newOptions(list)
	if err != nil {
		return nil, fmt.Errorf("discovering facts: %w", err)
	}
	var m *Model
	switch {
	case o.training != nil:
		m, err = Train(ctx, Facts{Train: facts}, *o.training, o.seed, nil, list...)
	case o.checkpoint == bestCheckpoint:
		m, err = LoadFacts(ctx, Facts{Train: facts}, zoo.Zero, list...)
	default:
		m, err = LoadFacts(ctx, Facts{Train: facts}, o.checkpoint, list...)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := m.Fit(ctx, nil); err != nil && !errors.Is(err, ErrTooFew) {
		return nil, err
	}
	return m.Discover(ctx, d)
}

// Discover lists new facts in the order of ScoredTriple.Compare: those among the 10 best new answers of one of their
// two queries, of all entities. They have probabilities if Fit has made them. It takes about two propagations for each
// entity with each relation in either direction. The error of an unknown relation is an *UnknownNameError.
func (m *Model) Discover(ctx context.Context, d Discovery) ([]ScoredTriple, error) {
	if d.Most < 0 {
		return nil, fmt.Errorf("discovering %d facts, want 1 or more, or 0 for %d", d.Most, mostDiscovered)
	}
	queries, err := m.queriesOf(ctx, d.Relations)
	if err != nil {
		return nil, err
	}
	e, err := m.estimator()
	if err != nil {
		return nil, err
	}
	// Each query stands for itself and for queries of its best answers in the other direction.
	most := cmp.Or(d.Most, mostDiscovered)
	best := discovery.Best{Most: 2 * most} // a fact may answer both of its queries
	done, total := int64(0), int64(len(queries)*(1+probability.DefaultK))
	report := func(answers int) {
		if done += int64(answers); d.Progress != nil {
			d.Progress(done, total)
		}
	}
	// Batches bound the memory of the candidates.
	for batch := range slices.Chunk(queries, discoveredTogether) {
		found, err := m.opened.NewCandidates(ctx, batch, probability.DefaultK, nil, report)
		if err != nil {
			return nil, m.failed(err)
		}
		list, _, err := m.opened.Estimate(ctx, slices.Concat(found...), e, nil)
		if err != nil {
			return nil, m.failed(err)
		}
		for _, j := range list {
			best.Add(discovery.Entry{Observation: j.Observation, Estimate: j.Estimate})
		}
	}
	best.Sort()
	listed, is := make([]ScoredTriple, 0, min(most, len(best.Entries))), map[graph.Fact]bool{}
	for _, f := range best.Entries {
		if len(listed) < most && !is[f.Fact] {
			is[f.Fact] = true
			listed = append(listed, m.scored(&answer.Estimated{Observation: f.Observation, Estimate: f.Estimate}))
		}
	}
	return listed, nil
}

// queriesOf returns the queries of all entities with the relations, or with those of Discovery, in both directions.
// Those of a relation follow each other, since they ask for each other's answers.
func (m *Model) queriesOf(ctx context.Context, relations []string) ([]graph.Query, error) {
	if len(relations) == 0 {
		relations = slices.Clone(m.Relations())
		if typed := kg.TypeRelation(m.opened.KG.Manifest); len(relations) > 1 {
			relations = slices.DeleteFunc(relations, func(name string) bool { return name == typed })
		}
	}
	var queries []graph.Query
	asked := map[string]bool{}
	for _, name := range relations {
		if asked[name] {
			continue
		}
		asked[name] = true
		id, err := m.lookup.Relation(ctx, name, false)
		if err != nil {
			return nil, err
		}
		for _, r := range []int32{id, m.opened.Graph.Inverse(id)} {
			for source := range int32(m.opened.Graph.Entities) {
				queries = append(queries, graph.Query{Source: source, Relation: r, Answer: graph.None})
			}
		}
	}
	return queries, nil
}
