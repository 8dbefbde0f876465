package rdf

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// wellKnown are prefixes that need not be declared.
var wellKnown = map[string]string{
	"rdf": namespace, "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "owl": "http://www.w3.org/2002/07/owl#",
	"xsd": "http://www.w3.org/2001/XMLSchema#", "skos": "http://www.w3.org/2004/02/skos/core#", "foaf": "http://xmlns.com/foaf/0.1/",
	"dc": "http://purl.org/dc/elements/1.1/", "dcterms": "http://purl.org/dc/terms/", "schema": "http://schema.org/",
	"dbr": "http://dbpedia.org/resource/", "dbo": "http://dbpedia.org/ontology/", "dbp": "http://dbpedia.org/property/",
	"wd": "http://www.wikidata.org/entity/", "wdt": "http://www.wikidata.org/prop/direct/", "obo": "http://purl.obolibrary.org/obo/",
}

// Prefixes shortens IRIs to names. Different IRIs have different names, unless one has letters as they are and the
// other percent-encoded, as in Zo%C3%AB: RFC 3987 takes these for the same. The zero value knows no prefix.
type Prefixes struct {
	declared map[string][]string // the namespaces of each prefix of the files
	list     []binding           // the prefixes in use, the longest namespaces first
	byPrefix map[string]bool
}

type binding struct{ prefix, namespace string }

// Add adds a declaration. A prefix that stands for several namespaces is not used at all.
func (p *Prefixes) Add(prefix, namespace string) {
	if p.declared == nil {
		p.declared = map[string][]string{}
	}
	if known := p.declared[prefix]; len(known) < 2 && !slices.Contains(known, namespace) {
		p.declared[prefix] = append(known, namespace)
	}
	p.list = nil
}

// prepare chooses the prefixes: the declared ones, then the well-known ones. Of several for one namespace the
// shortest is used.
func (p *Prefixes) prepare() {
	chosen := map[string]string{} // prefix by namespace
	choose := func(prefix, namespace string) {
		old, found := chosen[namespace]
		if namespace != "" && (!found || cmp.Or(cmp.Compare(len(prefix), len(old)), cmp.Compare(prefix, old)) < 0) {
			chosen[namespace] = prefix
		}
	}
	for prefix, namespaces := range p.declared {
		if len(namespaces) == 1 {
			choose(prefix, namespaces[0])
		}
	}
	for prefix, namespace := range wellKnown {
		if _, found := chosen[namespace]; p.declared[prefix] == nil && !found {
			chosen[namespace] = prefix
		}
	}
	p.list, p.byPrefix = []binding{}, map[string]bool{}
	for namespace, prefix := range chosen {
		p.list = append(p.list, binding{prefix, namespace})
		p.byPrefix[prefix] = true
	}
	slices.SortFunc(p.list, func(a, b binding) int {
		return cmp.Or(cmp.Compare(len(b.namespace), len(a.namespace)), cmp.Compare(a.namespace, b.namespace))
	})
}

// Name returns the name of an IRI or a blank node: rdf:type, _:b1, or the IRI itself where no prefix applies. An
// IRI whose scheme is also a prefix gets angle brackets, so that nobody reads it as a shortened one.
func (p *Prefixes) Name(t Term) string {
	if t.Kind == Blank {
		return "_:" + t.Value
	}
	return encoded.ReplaceAllStringFunc(p.shorten(t), decodeLetters)
}

// encoded are bytes beyond ASCII.
var encoded = regexp.MustCompile("(?:%[89A-Fa-f][0-9A-Fa-f])+")

// decodeLetters decodes percent-encoded bytes if all of them are letters and digits; otherwise it
// returns them unchanged.
func decodeLetters(bytes string) string {
	letters, err := url.PathUnescape(bytes)
	if err != nil || strings.ContainsFunc(letters, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }) {
		return bytes
	}
	return letters
}

// shorten returns an IRI with the prefix of its namespace, or in angle brackets if its scheme could
// be read as a prefix.
func (p *Prefixes) shorten(t Term) string {
	if p.list == nil {
		p.prepare()
	}
	for _, b := range p.list {
		if local, ok := strings.CutPrefix(t.Value, b.namespace); ok && local != "" {
			return b.prefix + ":" + local
		}
	}
	if scheme, _, _ := strings.Cut(t.Value, ":"); p.byPrefix[scheme] {
		return "<" + t.Value + ">"
	}
	return t.Value
}
