package rdf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind tells IRIs, blank nodes and literals apart.
type Kind uint8

// The kinds of terms.
const (
	IRI Kind = iota
	Blank
	Literal
)

// Term is the subject, predicate or object of a statement.
type Term struct {
	Kind Kind
	// Value is an absolute IRI, or the label of a blank node without "_:". It is empty for a literal.
	Value string
}

// Statement is a triple of terms. The predicate is an IRI, the subject no literal.
type Statement struct{ Subject, Predicate, Object Term }

// The names of Turtle's abbreviations.
const (
	namespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	typeIRI   = namespace + "type"
	firstIRI  = namespace + "first"
	restIRI   = namespace + "rest"
	nilIRI    = namespace + "nil"
)

// inIRI reports whether a letter may stand in an IRI.
func inIRI(r rune) bool { return r > ' ' && !strings.ContainsRune("<>\"{}|^`\\", r) }

func isScheme(text string) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || strings.ContainsRune("+-.", c))) {
			return false
		}
	}
	return text != ""
}

// isAbsolute reports whether an IRI begins with a scheme.
func isAbsolute(iri string) bool {
	scheme, _, found := strings.Cut(iri, ":")
	return found && isScheme(scheme)
}

// inLabel reports whether a letter may stand in a blank node's label or in a prefixed name. A dot may, too, but not
// at the end.
func inLabel(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == 0xB7 ||
		r >= 0xC0 && r != 0xD7 && r != 0xF7 && r != utf8.RuneError
}

// unescape returns the letter that the hexadecimal digits of \u or \U stand for.
func unescape(digits string) (rune, error) {
	code, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
		return 0, fmt.Errorf("%q is no code point", `\u`+digits)
	}
	return rune(code), nil
}
