package rdf

import (
	"strings"
	"testing"

	"tagnet/formats/input/triples"
)

// TestName has names of any kind, whose statements are read again as one statement of terms.
func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"http://e/a#b": {"<http://e/a#b>", "<http://e/a#b>"}, "kg:Ann": {"<kg:Ann>", "<kg:Ann>"},
		"_:b1": {"_:b1", "<urn:tagnet:_:b1>"}, "_:": {"<urn:tagnet:_:>", "<urn:tagnet:_:>"},
		"_:[a.nt]b": {"<urn:tagnet:_:%5Ba.nt%5Db>", "<urn:tagnet:_:%5Ba.nt%5Db>"},
		"_:-b":      {"<urn:tagnet:_:-b>", "<urn:tagnet:_:-b>"},
		"Ann":       {"<urn:tagnet:Ann>", "<urn:tagnet:Ann>"}, "Zoë B": {"<urn:tagnet:Zo%C3%AB%20B>", "<urn:tagnet:Zo%C3%AB%20B>"},
		"note: a b":     {"<urn:tagnet:note:%20a%20b>", "<urn:tagnet:note:%20a%20b>"},
		"http://e/> <b": {"<urn:tagnet:http:%2F%2Fe%2F%3E%20%3Cb>", "<urn:tagnet:http:%2F%2Fe%2F%3E%20%3Cb>"},
		"a:\u2028b\xff": {"<urn:tagnet:a:%E2%80%A8b%FF>", "<urn:tagnet:a:%E2%80%A8b%FF>"}, `"a" .`: {"<urn:tagnet:%22a%22%20.>", "<urn:tagnet:%22a%22%20.>"},
	} {
		if got := [2]string{Name(name, false), Name(name, true)}; got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
		text, statements := want[0]+" "+want[1]+" "+want[0]+" .\n", 0
		err := ReadNTriples("list.nt", strings.NewReader(text), func(_ int, s Statement) error {
			statements++
			if s.Subject != s.Object || s.Predicate.Kind != IRI || s.Subject.Kind == Literal {
				t.Errorf("%q is read as %+v", text, s)
			}
			return nil
		}, func(b triples.BadLine) error { return b })
		if err != nil || statements != 1 {
			t.Errorf("%q has %d statements, error %v", text, statements, err)
		}
	}
}
