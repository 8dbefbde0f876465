package pattern

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Term is an entity's name, or a variable.
type Term struct {
	// Name is that of the entity, or of the variable without the leading ?.
	Name     string
	Variable bool
	at       int
}

// String returns the term as it is written.
func (t Term) String() string {
	if t.Variable {
		return "?" + t.Name
	}
	return written(t.Name)
}

// Atom is relation(head, tail), or its negation.
type Atom struct {
	Relation   string
	Negated    bool
	Head, Tail Term
	at         int
}

// String returns the atom as it is written.
func (a Atom) String() string {
	text := fmt.Sprintf("%s(%v, %v)", written(a.Relation), a.Head, a.Tail)
	if a.Negated {
		return negation + " " + text
	}
	return text
}

// Error is the error of a pattern, and shows the place.
type Error struct {
	Text   string // of the pattern
	At     int    // in its bytes
	Reason error
}

// shownAhead is the number of letters after its place that an error shows.
const shownAhead = 20

// Error returns the place and the reason in a line.
func (e *Error) Error() string {
	ahead := []rune(e.Text[e.At:])
	place := fmt.Sprintf("before %q", string(ahead[:min(shownAhead, len(ahead))]))
	if len(ahead) == 0 {
		place = "at its end"
	}
	return fmt.Sprintf("the pattern, letter %d, %s: %v", 1+utf8.RuneCountInString(e.Text[:e.At]), place, e.Reason)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Reason }

// negation is the word before a negated atom.
const negation = "not"

// special are the letters that end a name without quotes.
const special = `,()?"`

// quotes says in errors what may be missing.
const quotes = `; a name with spaces or one of ` + special + ` is in quotes, with \ before its own`

// written returns a name as a pattern has it.
func written(name string) string {
	if name == "" || name == negation || strings.ContainsAny(name, special) || strings.ContainsFunc(name, unicode.IsSpace) {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	return name
}

// Parse returns the atoms of a text. They are separated by commas; a name that has spaces, or one of , ( ) ? ", is in
// quotes, within which \ stands before " and \. Its error is an *Error.
func Parse(text string) ([]Atom, error) {
	p := &parser{text: text}
	var atoms []Atom
	for len(atoms) == 0 || p.take(',') {
		a, err := p.atom()
		if err != nil {
			return nil, err
		}
		atoms = append(atoms, a)
	}
	if p.at < len(text) {
		return nil, p.fail("want a comma, and another atom")
	}
	return atoms, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) fail(format string, values ...any) error {
	return &Error{p.text, p.at, fmt.Errorf(format, values...)}
}

func (p *parser) skip() {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
}

// take skips spaces, and a letter if it is the next one.
func (p *parser) take(letter byte) bool {
	p.skip()
	if is := p.at < len(p.text) && p.text[p.at] == letter; !is {
		return false
	}
	p.at++
	p.skip()
	return true
}

func (p *parser) atom() (a Atom, err error) {
	p.skip()
	a.at = p.at
	if rest, is := strings.CutPrefix(p.text[p.at:], negation); is && rest != strings.TrimLeftFunc(rest, unicode.IsSpace) {
		a.Negated, p.at = true, p.at+len(negation)
		p.skip()
	}
	if a.Relation, err = p.name("a relation"); err != nil {
		return a, err
	}
	if !p.take('(') {
		return a, p.fail("want ( after the relation%s", quotes)
	}
	if a.Head, err = p.term(); err != nil {
		return a, err
	}
	if !p.take(',') {
		return a, p.fail("want a comma after the first term%s", quotes)
	}
	if a.Tail, err = p.term(); err != nil {
		return a, err
	}
	if !p.take(')') {
		return a, p.fail("want ) after the second term%s", quotes)
	}
	return a, nil
}

// term reads a name or a variable.
func (p *parser) term() (t Term, err error) {
	t.at = p.at
	if p.at < len(p.text) && p.text[p.at] == '?' {
		p.at++
		t.Variable = true
		t.Name, err = p.name("a variable's name")
		return t, err
	}
	t.Name, err = p.name("a name, or ? and a variable's name")
	return t, err
}

// name reads a name, with or without quotes.
func (p *parser) name(want string) (string, error) {
	if p.at == len(p.text) || p.text[p.at] != '"' {
		rest := p.text[p.at:]
		end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(special, r) })
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return "", p.fail("want %s", want)
		}
		p.at += end
		return rest[:end], nil
	}
	var name strings.Builder
	for at := p.at + 1; at < len(p.text); at++ {
		switch p.text[at] {
		case '"':
			p.at = at + 1
			return name.String(), nil
		case '\\':
			if at++; at == len(p.text) {
				continue
			}
		}
		name.WriteByte(p.text[at])
	}
	return "", p.fail("the quote has no end")
}
