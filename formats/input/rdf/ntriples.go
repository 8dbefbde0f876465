package rdf

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
)

// ReadNTriples calls each for every statement of a text, with the number of its line, and bad for every line that
// is neither a statement nor a comment nor blank. It stops at the first error that one of them returns. Errors
// mention name. Compressed texts are unpacked.
func ReadNTriples(name string, r io.Reader, each func(line int, s Statement) error, bad func(triples.BadLine) error) error {
	return readStatements(name, r, false, each, bad)
}

// ReadNQuads reads N-Quads like ReadNTriples: the name of a graph may follow the object, and is left out.
func ReadNQuads(name string, r io.Reader, each func(line int, s Statement) error, bad func(triples.BadLine) error) error {
	return readStatements(name, r, true, each, bad)
}

// IsQuad reports whether a line is a statement of N-Quads that has the name of a graph.
func IsQuad(line string) bool {
	_, _, err := parseLine(line, false)
	_, found, wrong := parseLine(line, true)
	return err != nil && found && wrong == nil
}

// readStatements calls each for every statement with its line, and bad for other lines. quads allows the name of a
// graph, which is dropped.
func readStatements(name string, r io.Reader, quads bool, each func(line int, s Statement) error, bad func(triples.BadLine) error) error {
	return triples.ReadLines(name, "subject, predicate, object and a dot", r, func(number int, line []byte) error {
		s, found, err := parseLine(string(line), quads)
		switch {
		case err != nil:
			b := triples.BadLine{
				File: name, Line: number, Reason: "not a statement of N-Triples: " + err.Error(),
				Remedy: remedy.Do("write <subject> <predicate> <object> ."), Text: triples.Shown(line),
			}
			if errors.Is(err, errStar) {
				b.Remedy = starRemedy
			}
			if !quads && IsQuad(string(line)) {
				b.Reason = "a statement of N-Quads, with the name of a graph"
				b.Remedy = remedy.Do("%v reads it without that name", remedy.Flag("format", "nquads"))
			}
			return bad(b)
		case !found:
			return nil
		}
		return each(number, s)
	}, bad)
}

// parseLine parses a line, of N-Quads or of N-Triples. It finds nothing in a comment or a blank line.
func parseLine(text string, quads bool) (s Statement, found bool, err error) {
	l := line{rest: text}
	if l.end() {
		return s, false, nil
	}
	// Subject, predicate and object.
	if s.Subject, err = l.term(); err != nil {
		return s, false, err
	}
	if s.Subject.Kind == Literal {
		return s, false, fmt.Errorf("the subject is a literal")
	}
	if s.Predicate, err = l.term(); err != nil {
		return s, false, err
	}
	if s.Predicate.Kind != IRI {
		return s, false, fmt.Errorf("the predicate is no IRI")
	}
	if s.Object, err = l.term(); err != nil {
		return s, false, err
	}
	// Only N-Quads may name a graph before the dot.
	if quads && !l.end() && l.rest[0] != '.' {
		graph, err := l.term()
		if err != nil {
			return s, false, err
		}
		if graph.Kind == Literal {
			return s, false, fmt.Errorf("the name of the graph is a literal")
		}
	}
	if l.end() || l.rest[0] != '.' {
		return s, false, fmt.Errorf("the dot at the end is missing")
	}
	l.rest = l.rest[1:]
	if !l.end() {
		return s, false, fmt.Errorf("%q follows the dot", triples.Shown([]byte(l.rest)))
	}
	return s, true, nil
}

// errStar is the error of a statement that stands for another, in << >>, {| |} or ~.
var errStar = errors.New("a statement about a statement (RDF-star), which is not read")

var starRemedy = remedy.Do("leave it out: riot --output=ntriples FILE | grep -v '<<' > facts.nt keeps the others")

// line holds the text of a line that is not parsed yet.
type line struct{ rest string }

// end skips white space and reports whether nothing else than a comment is left.
func (l *line) end() bool {
	l.rest = strings.TrimLeft(l.rest, " \t")
	return l.rest == "" || l.rest[0] == '#'
}

// term reads the next term.
func (l *line) term() (Term, error) {
	if l.end() {
		return Term{}, fmt.Errorf("a term is missing")
	}
	switch {
	case strings.HasPrefix(l.rest, "<<"):
		return Term{}, errStar
	case l.rest[0] == '<':
		iri, err := l.iri()
		return Term{IRI, iri}, err
	case strings.HasPrefix(l.rest, "_:"):
		label, err := l.label()
		return Term{Blank, label}, err
	case l.rest[0] == '"':
		return Term{Kind: Literal}, l.literal()
	}
	word, _, _ := strings.Cut(l.rest, " ")
	return Term{}, fmt.Errorf("%q is neither an IRI nor a blank node nor a literal", triples.Shown([]byte(word)))
}

// iri reads an IRI in angle brackets, which must be absolute.
func (l *line) iri() (string, error) {
	end := strings.IndexByte(l.rest, '>')
	if end < 0 {
		return "", fmt.Errorf("an IRI lacks its >")
	}
	text := l.rest[1:end]
	l.rest = l.rest[end+1:]
	iri, err := decodeIRI(text)
	if err == nil && !isAbsolute(iri) {
		err = fmt.Errorf("<%s> is no absolute IRI", triples.Shown([]byte(iri)))
	}
	return iri, err
}

// decodeIRI replaces escapes and checks letters.
func decodeIRI(text string) (string, error) {
	var iri strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		digits := 0
		switch {
		case strings.HasPrefix(text, `\u`):
			digits = 4
		case strings.HasPrefix(text, `\U`):
			digits = 8
		}
		if digits > 0 {
			if len(text) < 2+digits {
				return "", fmt.Errorf("an escape in an IRI is cut short")
			}
			var err error
			if r, err = unescape(text[2 : 2+digits]); err != nil {
				return "", err
			}
			size = 2 + digits
		}
		if !inIRI(r) {
			return "", fmt.Errorf("%q must not stand in an IRI", r)
		}
		iri.WriteRune(r)
		text = text[size:]
	}
	return iri.String(), nil
}

// label reads the label of a blank node.
func (l *line) label() (string, error) {
	text := l.rest[len("_:"):]
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && !inLabel(r) })
	if end < 0 {
		end = len(text)
	}
	label := strings.TrimRight(text[:end], ".")
	l.rest = text[len(label):]
	if label == "" || label[0] == '-' || label[0] == '.' {
		return "", fmt.Errorf("a blank node has no label")
	}
	return label, nil
}

// literal skips a literal with its language or type.
func (l *line) literal() error {
	for i := 1; i < len(l.rest); i++ {
		switch l.rest[i] {
		case '\\':
			i++
		case '"':
			l.rest = l.rest[i+1:]
			switch {
			case strings.HasPrefix(l.rest, "^^<"):
				l.rest = l.rest[2:]
				_, err := l.iri()
				return err
			case strings.HasPrefix(l.rest, "@"):
				end := strings.IndexFunc(l.rest[1:], func(r rune) bool {
					return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
				})
				if end == 0 || len(l.rest) == 1 {
					return fmt.Errorf("a literal has no language after @")
				}
				if end < 0 {
					end = len(l.rest) - 1
				}
				l.rest = l.rest[1+end:]
			}
			return nil
		}
	}
	return fmt.Errorf("a literal lacks its closing quote")
}
