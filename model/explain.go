package model

import (
	"context"
	"fmt"
	"math"
	"strings"

	"tagnet/model/answer/explanation"
)

// Path is a way through the graph from a query's source to an answer, with the influence that it had on
// the answer's score.
type Path struct {
	// Weight is the mean, over the path's steps, of the derivative of the score by a factor of the step's message: a
	// share of influence to first order, and no probability. It may be negative. For A*Net, whose authors weigh paths
	// otherwise, it is the mean of the senders' priorities relative to the highest in their layers.
	Weight float64 `json:"weight"`
	// Steps lead from the source to the answer, one in each layer from the first.
	Steps []Step `json:"steps"`
}

// Step is an edge of a path, by names.
type Step struct {
	From string `json:"from"`
	// Relation is the name of a relation of the graph. With Inverse the fact is (To, Relation, From), else
	// (From, Relation, To).
	Relation string `json:"relation"`
	Inverse  bool   `json:"inverse"`
	To       string `json:"to"`
}

// String returns the weight and the steps on one line: 0.27  Ann -parent_of-> Ben -~parent_of-> Eve. Names are as
// they are in the graph; where a person reads them, control characters in them need escaping.
func (p Path) String() string { return FormatWeight(p.Weight) + "  " + p.Text() }

// Text returns the steps on one line, without the weight.
func (p Path) Text() string {
	var text strings.Builder
	for i, s := range p.Steps {
		if i == 0 {
			text.WriteString(s.From)
		}
		text.WriteString(" -")
		if s.Inverse {
			text.WriteByte('~')
		}
		text.WriteString(s.Relation + "-> " + s.To)
	}
	return text.String()
}

// FormatWeight returns a path's weight with two significant digits.
func FormatWeight(weight float64) string {
	if math.Abs(weight) >= 9.95 {
		return fmt.Sprintf("%.0f", weight)
	}
	return fmt.Sprintf("%#.2g", weight)
}

// ExplainOption changes which paths Explain returns.
type ExplainOption func(*explaining)

// explaining has the values of ExplainOptions.
type explaining struct{ walks bool }

// Walks takes the best of all walks: also those that visit an entity twice, or that differ from a better one in
// inverse facts only.
func Walks() ExplainOption { return func(e *explaining) { e.walks = true } }

// Explain returns the k paths that carried most of the score of an entity as the answer of a query, best first. They
// visit no entity twice. Where the graph has a fact and its inverse, (u, r, v) and (v, r, u), two steps lead from u to
// v: of paths that differ in such steps only, the one with the highest weight is returned. There is none where the
// entity is the source, or farther away than the model has layers. The error of an unknown entity or relation is an
// *UnknownNameError. The CPU computes it, also for a model on a device. A fact of the graph is explained in the graph
// without it. The first call takes memory for another copy of the weights. It checks ctx before each layer.
func (m *Model) Explain(ctx context.Context, query Query, entity string, k int, options ...ExplainOption) ([]Path, error) {
	var o explaining
	for _, option := range options {
		option(&o)
	}
	if k < 1 {
		return nil, fmt.Errorf("explaining with %d paths, want 1 or more", k)
	}
	ids, err := m.ids(ctx, query)
	if err != nil {
		return nil, err
	}
	id, err := m.lookup.Entity(ctx, entity)
	if err != nil {
		return nil, err
	}
	ids.Answer = id
	ids.Removal = m.opened.Graph.RemovalOf(ids)
	explained, err := m.opened.Explain(ctx, ids, id, k, o.walks)
	return NamedPaths(m.opened.View.Entities, m.opened.KG.Relations, explained.Paths), err
}

// PathWeights says in a sentence what the weights of this model's paths are.
func (m *Model) PathWeights() string { return explanation.Weights(m.opened.Configuration) }

// NamedPaths returns paths with the names of their entities and base relations, by id.
func NamedPaths(entities, relations []string, paths []explanation.Path) []Path {
	named := make([]Path, len(paths))
	for i, path := range paths {
		named[i].Weight = path.Weight
		for _, e := range path.Edges {
			base := int(e.Relation) % len(relations)
			named[i].Steps = append(named[i].Steps, Step{
				From: entities[e.Sender], Relation: relations[base], Inverse: int(e.Relation) >= len(relations), To: entities[e.Receiver],
			})
		}
	}
	return named
}
