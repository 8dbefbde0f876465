package model

import (
	"context"
	"fmt"
	"math"
	"strings"

	"tagnet/model/answer"
	"tagnet/model/answer/explanation"
	"tagnet/model/answer/rules"
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
func (p Path) Text() string { return steps(p.Steps) }

// steps returns steps on one line.
func steps(list []Step) string {
	var text strings.Builder
	for i, s := range list {
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

// Reason is a rule of the graph that gives a fact: a path of its relations leads from the fact's head to its tail.
type Reason struct {
	// Rule names the relations of the path: parent_of, ~spouse_of.
	Rule string `json:"rule"`
	// The rule holds in Support of Cases: of the pairs that such a path joins, and whose head has an answer, so many
	// are facts of the graph. The fact itself is not counted.
	Support int `json:"support"`
	Cases   int `json:"cases"`
	// Steps are a path of the rule from the head to the tail.
	Steps []Step `json:"steps"`
}

// String returns the reason on one line: parent_of, parent_of: so in 26 of 28; here Ann -parent_of->
// Ben -parent_of-> Eve.
func (r Reason) String() string {
	return fmt.Sprintf("%s: so in %d of %d; here %s", r.Rule, r.Support, r.Cases, r.Text())
}

// Text returns the steps on one line.
func (r Reason) Text() string { return steps(r.Steps) }

// Explanation says why an entity may be an answer of a query.
type Explanation struct {
	// Reasons are rules of the graph that give the fact, the best first.
	Reasons []Reason `json:"reasons"`
	// Paths carried most of the model's score, where no rule gives the fact, or with Walks. They lead from the query's
	// source to the answer, the best first.
	Paths []Path `json:"paths"`
}

// FormatWeight returns a path's weight with two significant digits.
func FormatWeight(weight float64) string {
	if math.Abs(weight) >= 9.95 {
		return fmt.Sprintf("%.0f", weight)
	}
	return fmt.Sprintf("%#.2g", weight)
}

// ExplainOption changes what Explain returns.
type ExplainOption func(*explaining)

// explaining has the values of ExplainOptions.
type explaining struct{ walks bool }

// Walks adds the paths that carried most of the score where there are reasons, too, and takes the best of all walks:
// also those that visit an entity twice, or that differ from a better one in inverse facts only.
func Walks() ExplainOption { return func(e *explaining) { e.walks = true } }

// Explain returns why an entity may be an answer of a query: at most k reasons, rules of the graph; where no rule gives
// the fact, at most k of the paths that carried most of the score. A fact of the graph is explained in the graph
// without it. Paths visit no entity twice, and where the graph has a fact and its inverse, (u, r, v) and (v, r, u), of
// paths that differ in such steps only the one with the highest weight is returned. There is none where the entity is
// the source, or farther away than the model has layers. The error of an unknown entity or relation is an
// *UnknownNameError. The first call waits for MineRules, and takes memory for another copy of the weights. The CPU
// computes it, also for a model on a device.
func (m *Model) Explain(ctx context.Context, query Query, entity string, k int, options ...ExplainOption) (Explanation, error) {
	var o explaining
	for _, option := range options {
		option(&o)
	}
	if k < 1 {
		return Explanation{}, fmt.Errorf("explaining with %d paths, want 1 or more", k)
	}
	ids, err := m.ids(ctx, query)
	if err != nil {
		return Explanation{}, err
	}
	if ids.Answer, err = m.lookup.Entity(ctx, entity); err != nil {
		return Explanation{}, err
	}
	ids.Removal = m.opened.Graph.RemovalOf(ids)
	if err := m.MineRules(ctx, nil); err != nil {
		return Explanation{}, err
	}
	why, err := m.opened.Why(ctx, m.rules.Load(), ids, k, o.walks)
	entities, relations := m.opened.View.Entities, m.opened.KG.Relations
	return Explanation{NamedReasons(entities, relations, why.Reasons), NamedPaths(entities, relations, why.Paths)}, err
}

// MineRules finds the rules of the graph, unless the model has them. The workspace keeps them for the next Open; that
// it cannot be written is no error, and is logged. progress, which may be nil, is called after each of total parts.
func (m *Model) MineRules(ctx context.Context, progress func(done, total int)) error {
	if err := m.mining.Lock(ctx); err != nil {
		return err
	}
	defer m.mining.Unlock()
	if m.rules.Load() != nil {
		return nil
	}
	var roots []string
	if m.workspace != "" {
		roots = append(roots, m.workspace)
	}
	mined, _, unwritten, err := answer.Rules(ctx, m.opened.Graph, m.opened.Resources.Threads, progress, roots...)
	if err != nil {
		return fmt.Errorf("finding the rules of the graph: %w", err)
	}
	if unwritten != nil && ctx.Err() == nil {
		m.note(fmt.Sprintf("the rules of the graph are not kept: %v", unwritten))
	}
	m.rules.Store(mined)
	return nil
}

// PathWeights says in a sentence what the weights of this model's paths are.
func (m *Model) PathWeights() string { return explanation.Weights(m.opened.Configuration) }

// NamedPaths returns paths with the names of their entities and base relations, by id.
func NamedPaths(entities, relations []string, paths []explanation.Path) []Path {
	named := make([]Path, len(paths))
	for i, path := range paths {
		named[i].Weight = path.Weight
		for _, e := range path.Edges {
			named[i].Steps = append(named[i].Steps, namedStep(entities, relations, e.Sender, e.Relation, e.Receiver))
		}
	}
	return named
}

// NamedReasons returns reasons with the names of their entities and base relations, by id.
func NamedReasons(entities, relations []string, reasons []rules.Reason) []Reason {
	named := make([]Reason, len(reasons))
	for i, r := range reasons {
		named[i] = Reason{Rule: rules.Text(relations, r.Body), Support: r.Support, Cases: r.Cases}
		for j, b := range r.Body {
			named[i].Steps = append(named[i].Steps, namedStep(entities, relations, r.Path[j], b, r.Path[j+1]))
		}
	}
	return named
}

func namedStep(entities, relations []string, from, relation, to int32) Step {
	base := len(relations)
	return Step{From: entities[from], Relation: relations[int(relation)%base], Inverse: int(relation) >= base, To: entities[to]}
}
