package rdf

import (
	"net/url"
	"strings"

	"tagnet/formats/names"
)

// Name returns a name as a term of N-Triples: an absolute IRI as it is, and the label of a blank node where it is no
// predicate; any other name is an IRI with its letters, below urn:tagnet:.
func Name(name string, predicate bool) string {
	strange := func(r rune) bool { return !inLabel(r) }
	if label, blank := strings.CutPrefix(name, "_:"); blank && !predicate && label != "" && label[0] != '-' && strings.IndexFunc(label, strange) < 0 {
		return name
	}
	if isAbsolute(name) && names.Escape(name) == name && strings.IndexFunc(name, func(r rune) bool { return !inIRI(r) }) < 0 {
		return "<" + name + ">"
	}
	return "<urn:tagnet:" + url.PathEscape(name) + ">"
}
