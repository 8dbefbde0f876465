package rdf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/triples"
)

func show(t Term) string {
	switch t.Kind {
	case Blank:
		return "_:" + t.Value
	case Literal:
		return `""`
	}
	return "<" + t.Value + ">"
}

// turtleOf returns the statements of a document as "line: s p o", with <http://e/x> as <x>.
func turtleOf(text string) (list []string, err error) {
	err = ReadTurtle("f.ttl", "f", strings.NewReader(text), nil, func(line int, s Statement) error {
		list = append(list, strings.ReplaceAll(fmt.Sprintf("%d: %s %s %s", line, show(s.Subject), show(s.Predicate), show(s.Object)), "<http://e/", "<"))
		return nil
	})
	return list, err
}

func TestTurtle(t *testing.T) {
	const start = "@prefix : <http://e/> . @prefix e: <http://e/> .\n"
	for _, c := range []struct {
		text string
		want []string
	}{
		{":a :r :b .", []string{"2: <a> <r> <b>"}},
		{":a :r :b, :c ;\n :s e:d ; .", []string{"2: <a> <r> <b>", "2: <a> <r> <c>", "3: <a> <s> <d>"}},
		{":a a :b.\t:c a :d.", []string{"2: <a> <" + typeIRI + "> <b>", "2: <c> <" + typeIRI + "> <d>"}},
		{`:a :r "x", 'y', """long " ""q"" text""""", '''it's ''', "t"@en-GB, "1"^^e:int, "2"^^<http://e/int> .`, slices.Repeat([]string{`2: <a> <r> ""`}, 7)},
		{`:a :r 1, -2.5, 1e9, .5, +3.E2, true, false .`, slices.Repeat([]string{`2: <a> <r> ""`}, 7)},
		{":a :r 1.\n:b :r 2.5.", []string{`2: <a> <r> ""`, `3: <b> <r> ""`}},
		{"_:x :r _:y.z .", []string{"2: _:x <r> _:y.z"}},
		{"[] :r [ :s :b ; :t [] ] .", []string{"2: _:[f.2] <s> <b>", "2: _:[f.2] <t> _:[f.3]", "2: _:[f.1] <r> _:[f.2]"}},
		{"[ :r :b ] . [ :r :c ] :s :d .", []string{"2: _:[f.1] <r> <b>", "2: _:[f.2] <r> <c>", "2: _:[f.2] <s> <d>"}},
		{":a :r ( :b ) , () .", []string{"2: _:[f.1] <" + firstIRI + "> <b>", "2: _:[f.1] <" + restIRI + "> <" + nilIRI + ">", "2: <a> <r> _:[f.1]",
			"2: <a> <r> <" + nilIRI + ">"}},
		{`e:a.b :r\,s :c%20d\!, e:x:y, :1, e: .`, []string{"2: <a.b> <r,s> <c%20d!>", "2: <a.b> <r,s> <x:y>", "2: <a.b> <r,s> <1>", "2: <a.b> <r,s> <>"}},
		{"# a comment\n:a # another\n :r :b . # <x", []string{"4: <a> <r> <b>"}},
		{"PREFIX x: <http://e/x/>\nprefix e: <http://e/other/>\nBASE <http://e/p/q?k#f>\nx:a :r <b>, </b>, <../b>, <#b>, <?b>, <//h/b>, <>, <./b/../c> .",
			[]string{"5: <x/a> <r> <p/b>", "5: <x/a> <r> <b>", "5: <x/a> <r> <b>", "5: <x/a> <r> <p/q?k#b>", "5: <x/a> <r> <p/q?b>",
				"5: <x/a> <r> <http://h/b>", "5: <x/a> <r> <p/q?k>", "5: <x/a> <r> <p/c>"}},
		{`:\u00e4 :r <http://e/\u00e4\U0001F600> .`, nil},
		{":ä·0 :r <http://e/ö> .", []string{"2: <ä·0> <r> <ö>"}},
		{"", nil},
	} {
		got, err := turtleOf(start + c.text)
		if c.want == nil && c.text != "" {
			if err == nil {
				t.Errorf("%s: no error", c.text) // names have no \u
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", c.text, err, diff)
		}
	}
	if got, err := turtleOf(`<http://e/\u00e4> <http://e/r> <http://e/\U0001F600> .`); err != nil || !slices.Equal(got, []string{"1: <ä> <r> <😀>"}) {
		t.Errorf("escapes: %q, %v", got, err)
	}
}

func TestTurtleErrors(t *testing.T) {
	for text, want := range map[string]string{
		"@prefix a: <http://a/> .\na:b a:r .":                                 "f.ttl:2: not Turtle: a dot stands where an object belongs",
		"a:b a:r a:c .":                                                       `f.ttl:1: not Turtle: the prefix "a:" is not declared`,
		"<http://a> <http://r> <b> .":                                         "f.ttl:1: not Turtle: <b> is relative and the document has no @base",
		"<http://a> <http://r> <http://b>":                                    "f.ttl:1: not Turtle: the file ends within a statement",
		"<http://a> <http://r> \"b\n\" .":                                     "f.ttl:1: not Turtle: a literal lacks its closing quote",
		"<http://a> <http://r> \"\"\"b\n\n":                                   "f.ttl:1: not Turtle: a literal lacks its closing quote",
		"<http://a> <http://r>\n<http://b\n .":                                "f.ttl:2: not Turtle: an IRI lacks its >",
		"<http://a> <http://r":                                                "f.ttl:1: not Turtle: an IRI lacks its >",
		"<http://a> <http://r> <http://b c> .":                                "f.ttl:1: not Turtle: ' ' must not stand in an IRI",
		"\n<http://a> <http://r> \x00 .":                                      "f.ttl:2: not Turtle: NUL",
		"<http://a> <http://r> <http://\xff> .":                               "f.ttl:1: not Turtle: invalid UTF-8",
		"<http://a> <http://r> " + strings.Repeat("[", 200):                   "f.ttl:1: not Turtle: ",
		"<http://a> <http://r> " + strings.Repeat("(", 200):                   "f.ttl:1: not Turtle: brackets are nested deeper than 100",
		"\"a\" <http://r> <http://b> .":                                       "f.ttl:1: not Turtle: ",
		"@base <http://a/> <b> <c> <d> .":                                     "f.ttl:1: not Turtle: a dot after @base is missing",
		"@keyword a .":                                                        "f.ttl:1: not Turtle: @keyword is neither @prefix nor @base",
		"hello world":                                                         `f.ttl:1: not Turtle: "hello" begins no statement`,
		"<http://a> <http://r> <http://" + strings.Repeat("x", 2<<20) + "> .": "f.ttl:1: not Turtle: an IRI is longer than",
	} {
		_, err := turtleOf(text)
		bad := triples.BadLine{}
		if !errors.As(err, &bad) || !strings.HasPrefix(strings.ReplaceAll(err.Error(), `"."`, `""`), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func TestNTriples(t *testing.T) {
	for text, want := range map[string]string{
		"<http://a> <http://r> <http://b> .":               "<http://a> <http://r> <http://b>",
		"<http://a><http://r><http://b>.":                  "<http://a> <http://r> <http://b>",
		"\t_:x  <http://r>\t_:y.z . # comment":             "_:x <http://r> _:y.z",
		"_:x <http://r> _:y.":                              "_:x <http://r> _:y",
		`<http://a> <http://r> "x \" . <http://b> ."@en .`: `<http://a> <http://r> ""`,
		`<http://a> <http://r> "1"^^<http://int> .`:        `<http://a> <http://r> ""`,
		`<http://\u00e4> <http://r> <http://\U0001F600> .`: "<http://ä> <http://r> <http://😀>",
		" ":                                                              "nothing",
		"  # <http://a>":                                                 "nothing",
		"<http://a> <http://r> <http://b>":                               "the dot at the end is missing",
		"<http://a> <http://r> .":                                        `"." is neither`,
		"<http://a> <http://r>":                                          "a term is missing",
		`"a" <http://r> <http://b> .`:                                    "the subject is a literal",
		"<http://a> _:r <http://b> .":                                    "the predicate is no IRI",
		"<a> <http://r> <http://b> .":                                    "<a> is no absolute IRI",
		"<http://a> <http://r> <http://b> . x":                           `"x" follows the dot`,
		"<http://a> <http://r> <http://b":                                "an IRI lacks its >",
		"<http://a b> <http://r> <http://b> .":                           "' ' must not stand in an IRI",
		`<http://\uD800> <http://r> <http://b> .`:                        `"\\uD800" is no code point`,
		`<http://\u12> <http://r> <http://b> .`:                          "an escape in an IRI is cut short",
		`<http://a> <http://r> "b .`:                                     "a literal lacks its closing quote",
		`<http://a> <http://r> "b"@ .`:                                   "a literal has no language after @",
		"_: <http://r> <http://b> .":                                     "a blank node has no label",
		"<http://a> <http://r> <http://b> <http://c> <http://d> .":       "the dot at the end is missing",
		"http://a http://r http://b .":                                   `"http://a" is neither`,
		`<http://a> <http://r> "` + strings.Repeat("x", 1000) + `"@en .`: `<http://a> <http://r> ""`,
	} {
		got := "nothing"
		err := ReadNTriples("f.nt", strings.NewReader("\n"+text+"\n"), func(line int, s Statement) error {
			got = show(s.Subject) + " " + show(s.Predicate) + " " + show(s.Object)
			return nil
		}, func(b triples.BadLine) error {
			got = strings.TrimPrefix(b.Error(), "f.nt:2: not a statement of N-Triples: ")
			return nil
		})
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%.60q: %q, %v; want %s", text, got, err, want)
		}
	}
}

// TestNames checks that the longest namespace counts, and that no two IRIs have the same name.
func TestNames(t *testing.T) {
	var p Prefixes
	for _, d := range [][2]string{{"e", "http://e/"}, {"ex", "http://e/x/"}, {"longer", "http://e/"}, {"twice", "http://a/"}, {"twice", "http://b/"},
		{"", "http://empty/"}, {"foaf", "http://mine/"}, {"odd", ""}, {"http", "http://h/"}} {
		p.Add(d[0], d[1])
	}
	seen := map[string]string{}
	for iri, want := range map[string]string{
		"http://e/a": "e:a", "http://e/x/a": "ex:a", "http://e/x/": "e:x/", "http://e/": "<http://e/>", "e:a": "<e:a>", "ex:a": "<ex:a>",
		"http://a/c": "<http://a/c>", "http://b/c": "<http://b/c>",
		"http://empty/a": ":a", "http://mine/a": "foaf:a", "http://xmlns.com/foaf/0.1/a": "<http://xmlns.com/foaf/0.1/a>", namespace + "type": "rdf:type",
		"rdf:type":   "<rdf:type>",
		"http://h/a": "http:a", "urn:x": "urn:x", "twice:c": "twice:c", "mailto:a@b": "mailto:a@b",
		"http://e/Zo%C3%AB": "e:Zoë", "http://e/Zo%eB": "e:Zo%eB", "http://e/a%20b%2F": "e:a%20b%2F", "http://e/%E2%80%8B": "e:%E2%80%8B",
		"urn:%E4%BA%AC%C3": "urn:%E4%BA%AC%C3",
	} {
		got := p.Name(Term{IRI, iri})
		if got != want {
			t.Errorf("%s is %s, want %s", iri, got, want)
		}
		if other, found := seen[got]; found {
			t.Errorf("%s and %s are both %s", iri, other, got)
		}
		seen[got] = iri
	}
	if got := p.Name(Term{Blank, "b1"}); got != "_:b1" {
		t.Errorf("a blank node is %s", got)
	}
	var none Prefixes
	if got := none.Name(Term{IRI, "http://xmlns.com/foaf/0.1/a"}); got != "foaf:a" {
		t.Errorf("well-known: %s", got)
	}
}

// FuzzTurtle checks that any text is read or refused with a line, and that what is read is the same when it is
// written as N-Triples.
func FuzzTurtle(f *testing.F) {
	for _, text := range []string{
		"@prefix : <http://e/> . :a :r [ :s ( :b 1.5 'x'@en ) ] , <c%20> ; a :d .", "BASE <http://a/b> <> <c> <../d> .",
		`<http://\u00e4> <http://r> """x"""^^<http://t> .`, "_:a.b <http://r> _:c.",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var lines strings.Builder
		var want []Statement
		err := ReadTurtle("f", "f", strings.NewReader(text), func(string, string) {}, func(line int, s Statement) error {
			if line < 1 || s.Predicate.Kind != IRI || s.Subject.Kind == Literal || s.Subject.Value == "" {
				t.Fatalf("line %d: %+v", line, s)
			}
			if s.Subject.Kind == IRI && s.Object.Kind == IRI && isAbsolute(s.Subject.Value) && isAbsolute(s.Predicate.Value) && isAbsolute(s.Object.Value) {
				want = append(want, s)
				fmt.Fprintf(&lines, "%s %s %s .\n", show(s.Subject), show(s.Predicate), show(s.Object))
			}
			return nil
		})
		if bad := (triples.BadLine{}); err != nil && errors.As(err, &bad) && (bad.Line < 1 || bad.Line > 1+strings.Count(text, "\n")) {
			t.Fatalf("%v", err)
		}
		if len(want) == 0 {
			return
		}
		var got []Statement
		err = ReadNTriples("again", strings.NewReader(lines.String()), func(_ int, s Statement) error { got = append(got, s); return nil },
			func(b triples.BadLine) error { return b })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", err, got, want)
		}
	})
}

// FuzzNTriples checks that any text is read or refused line by line.
func FuzzNTriples(f *testing.F) {
	f.Add("\v")
	f.Add("<http://a> <http://r> \"x\"@en .\n_:a <http://r> _:b.c. # d\n")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		count := func(line int) {
			if line <= last {
				t.Fatalf("line %d after %d", line, last)
			}
			last = line
		}
		ReadNTriples("f", strings.NewReader(text), func(line int, s Statement) error {
			count(line)
			if s.Subject.Value == "" || s.Predicate.Kind != IRI {
				t.Fatalf("%+v", s)
			}
			return nil
		}, func(b triples.BadLine) error { count(b.Line); return nil })
	})
}
