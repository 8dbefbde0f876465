package pattern

import (
	"fmt"
	"strings"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
)

// Named is a Match by name. Its JSON is what serve answers.
type Named struct {
	Entity      string      `json:"entity"`
	Probability float64     `json:"probability"`
	LogOdds     float64     `json:"log_odds"`
	Facts       []NamedFact `json:"facts"` // by atom
}

// NamedFact is the fact of an atom by name.
type NamedFact struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
	Negated  bool   `json:"negated"`
	Stated   bool   `json:"stated"`
	// Probability is that of the fact, also of a negated one.
	Probability float64 `json:"probability"`
}

// Named returns an answer of the pattern by name, of a model over the pattern's graph.
func (p *Pattern) Named(m *answer.Model, one Match) Named {
	entities := m.View.Entities
	n := Named{Entity: entities[one.Entity], Probability: one.Probability, LogOdds: one.LogOdds}
	for i, f := range one.Facts {
		n.Facts = append(n.Facts, NamedFact{entities[f.Head], m.KG.Relations[f.Relation], entities[f.Tail], p.Atoms[i].Negated, f.Stated, f.Probability})
	}
	return n
}

// Between separates the facts of Text.
const Between = "; "

// Text returns the facts as a pattern has them, each with what is known of it.
func (n Named) Text() string {
	facts := make([]string, len(n.Facts))
	for i, f := range n.Facts {
		facts[i] = f.String()
	}
	return strings.Join(facts, Between)
}

// String returns the fact as a pattern has it, and what is known of it.
func (f NamedFact) String() string {
	text := Atom{Relation: f.Relation, Negated: f.Negated, Head: Term{Name: f.Head}, Tail: Term{Name: f.Tail}}.String()
	switch {
	case f.Stated:
		return text + ", stated"
	case f.Probability == 0:
		return text + ", not stated"
	case f.Negated:
		return fmt.Sprintf("%s, which has probability %s", text, probability.Text(f.Probability))
	}
	return fmt.Sprintf("%s, probability %s", text, probability.Text(f.Probability))
}

// String says what is not followed.
func (c Cut) String() string {
	return fmt.Sprintf("?%s: the %d best of %d", c.Variable, c.Followed, c.Of)
}
