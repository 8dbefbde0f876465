package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"tagnet/model/answer/pattern"
)

// Pattern is a query of several steps, over stated and missing facts.
type Pattern struct {
	// Text has atoms, relation(term, term), between commas, "not" before a negated one. A term is a name, or ? and the
	// name of a variable: lives_in(?who, ?city), not located_in(?city, "St. Lucia").
	Text string
	// Answer is the variable that is sought; "" stands for the first one.
	Answer string
	// Bindings is the number of best entities of each other variable that are followed, 0 for 64.
	Bindings int
	// Stated takes stated facts alone.
	Stated bool
}

// Matches are the answers of a Pattern.
type Matches struct {
	// List has the best ones, the best first. The probability of one is the product of those of its facts.
	List []Match `json:"answers"`
	// Cuts are the variables with more entities than were followed.
	Cuts []Cut `json:"cut"`
}

type (
	// Match is an answer of a Pattern with the best facts for its atoms.
	Match = pattern.Named
	// Cut says that a variable has more entities than are followed.
	Cut = pattern.Cut
	// PatternError is the error of a pattern's text, and says where it is wrong.
	PatternError = pattern.Error
)

// ErrNoProbabilities is the error of a pattern as long as there are no probabilities, which Fit makes.
var ErrNoProbabilities = errors.New("patterns need probabilities, and none are fitted")

// Match returns the best answers of a pattern, k by known facts alone, and k others: the probability of each is that of
// its facts, 1 for a stated fact, of a negated atom 1 less it, multiplied, the highest over what the other variables
// may be. Its error is a *PatternError, which wraps the *UnknownNameError of an unknown name, or ErrNoProbabilities.
func (m *Model) Match(ctx context.Context, p Pattern, k int) (Matches, error) {
	if k < 1 || p.Bindings < 0 {
		return Matches{}, fmt.Errorf("asking for %d answers by %d bindings, want 1 or more", k, p.Bindings)
	}
	parsed, err := pattern.New(ctx, m.lookup, p.Text, p.Answer)
	if err != nil {
		return Matches{}, err
	}
	matcher := &pattern.Matcher{Model: m.opened, Known: m.known, Bindings: cmp.Or(p.Bindings, pattern.DefaultBindings), Best: k}
	if !p.Stated {
		matcher.Estimator, err = m.estimator()
		if err == nil && matcher.Estimator == nil {
			err = ErrNoProbabilities
		}
		if err != nil {
			return Matches{}, err
		}
	}
	found, cuts, err := matcher.Match(ctx, parsed)
	if err != nil {
		return Matches{}, m.failed(err)
	}
	matches := Matches{List: []Match{}, Cuts: append([]Cut{}, cuts...)}
	for _, one := range found {
		matches.List = append(matches.List, parsed.Named(m.opened, one))
	}
	return matches, nil
}
