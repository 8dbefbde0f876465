package pattern

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tagnet/model/graph/kg"
)

// Pattern is a conjunction of atoms with an answer.
type Pattern struct {
	Text   string
	Answer string // the variable, without the leading ?
	Atoms  []Atom
	root   *variable // of the answer
}

// variable is a node of the tree.
type variable struct {
	name     string
	branches []branch
	// isBound is set if an atom that is not negated leads to it from a name, below it in the tree.
	isBound bool
}

// branch is an atom of a variable that leads away from the answer: to a name's entity, or to another variable.
type branch struct {
	atom int
	// relation leads from the variable to the other end.
	relation int32
	negated  bool
	entity   int32
	variable *variable // nil for an entity
}

// binds reports whether entities of the branch's variable follow from the other end, which is known.
func (b *branch) binds() bool { return !b.negated && (b.variable == nil || b.variable.isBound) }

// New parses a pattern, and looks up its names. answer is the variable of the answer, with or without the leading ?, ""
// for the first one. Its error is an *Error, which wraps the *kg.UnknownNameError of an unknown name, unless ctx ends.
func New(ctx context.Context, lookup *kg.Lookup, text, answer string) (*Pattern, error) {
	p := &Pattern{Text: text}
	var err error
	if p.Atoms, err = Parse(text); err != nil {
		return nil, err
	}
	t := &tree{Pattern: p, lookup: lookup, placed: make([]bool, len(p.Atoms)), seen: map[string]bool{}}
	if answer = strings.TrimPrefix(answer, "?"); answer == "" {
		first, is := t.first(func(string) bool { return true })
		if !is {
			return nil, p.fail(0, "it has no variable")
		}
		answer = first.Name
	}
	p.Answer = answer
	if _, is := t.named(answer); !is {
		return nil, p.fail(0, "it has no variable ?%s, to be the answer", answer)
	}
	if p.root, err = t.grow(ctx, answer); err != nil {
		return nil, err
	}
	for i, is := range t.placed {
		if !is {
			return nil, p.fail(p.Atoms[i].at, "no variable joins this atom to the answer, ?%s", answer)
		}
	}
	return p, t.bind(p.root, p.root.isBound)
}

// fail returns the error of a place.
func (p *Pattern) fail(at int, format string, values ...any) error {
	return &Error{p.Text, at, fmt.Errorf(format, values...)}
}

// tree is a pattern while its tree grows.
type tree struct {
	*Pattern
	lookup *kg.Lookup
	placed []bool          // by atom
	seen   map[string]bool // variables
}

// grow returns a variable with all atoms that are not placed yet.
func (t *tree) grow(ctx context.Context, name string) (*variable, error) {
	v := &variable{name: name}
	t.seen[name] = true
	for i, a := range t.Atoms {
		from, to := a.Head, a.Tail
		inverse := !from.Variable || from.Name != name
		if inverse {
			from, to = to, from
		}
		if t.placed[i] || !from.Variable || from.Name != name {
			continue
		}
		t.placed[i] = true
		b := branch{atom: i, negated: a.Negated}
		var err error
		name, isInverse := strings.CutPrefix(a.Relation, "~") // as in other queries
		if t.lookup.HasRelation(a.Relation) {
			name, isInverse = a.Relation, false
		}
		if b.relation, err = t.lookup.Relation(ctx, name, inverse != isInverse); err != nil {
			return nil, t.unknown(err, a.at)
		}
		switch {
		case !to.Variable:
			if b.entity, err = t.lookup.Entity(ctx, to.Name); err != nil {
				return nil, t.unknown(err, to.at)
			}
		case t.seen[to.Name]:
			return nil, t.fail(to.at, "?%s is joined in a circle; atoms form a tree between names and the answer", to.Name)
		default:
			if b.variable, err = t.grow(ctx, to.Name); err != nil {
				return nil, err
			}
		}
		v.branches = append(v.branches, b)
		v.isBound = v.isBound || b.binds()
	}
	return v, nil
}

// unknown returns the error of an unknown name at its place, and others as they are.
func (t *tree) unknown(err error, at int) error {
	if unknown := (*kg.UnknownNameError)(nil); errors.As(err, &unknown) {
		return &Error{t.Text, at, err}
	}
	return err
}

// bind returns an error for a variable that nothing binds: neither a name below it, nor the variable above
// it in the tree, as isBound says.
func (t *tree) bind(v *variable, isBound bool) error {
	if !isBound {
		first, _ := t.named(v.name)
		return t.fail(first.at, "nothing binds ?%s: no atom without %s leads to it from a name", v.name, negation)
	}
	for _, b := range v.branches {
		if b.variable == nil {
			continue
		}
		if err := t.bind(b.variable, b.variable.isBound || !b.negated); err != nil {
			return err
		}
	}
	return nil
}

// named returns where a variable is first, and whether it is anywhere.
func (t *tree) named(name string) (Term, bool) {
	return t.first(func(of string) bool { return of == name })
}

// first returns the first variable whose name a condition holds for.
func (t *tree) first(holds func(name string) bool) (Term, bool) {
	for _, a := range t.Atoms {
		for _, term := range []Term{a.Head, a.Tail} {
			if term.Variable && holds(term.Name) {
				return term, true
			}
		}
	}
	return Term{}, false
}
