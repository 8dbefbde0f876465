package pattern

import (
	"fmt"
	"strings"
	"testing"

	"tagnet/model/graph/kg"
)

func TestParse(t *testing.T) {
	const text = `owned_by(?company,?owner) , sanctioned_by( ?owner , "OFAC" ),not "located in"(?company, "St. John's, \"N\" \\"), not(?a, note)`
	const want = `owned_by(?company, ?owner), sanctioned_by(?owner, OFAC), not "located in"(?company, "St. John's, \"N\" \\"), "not"(?a, note)`
	atoms, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, a := range atoms {
		written = append(written, a.String())
	}
	if got := strings.Join(written, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again, err := Parse(want); err != nil || fmt.Sprint(again) != fmt.Sprint(atoms) {
		t.Errorf("what is written is read as %v (%v)", again, err)
	}
}

// TestErrors checks that each error is in a line, and where it is.
func TestErrors(t *testing.T) {
	lookup := kg.NewLookup([]string{"a", "b"}, []string{"likes", "owns"})
	for text, want := range map[string]string{
		``:                               `letter 1, at its end: want a relation`,
		`likes`:                          `letter 6, at its end: want ( after the relation`,
		`is fond of(?x, a)`:              `letter 4, before "fond of(?x, a)": want ( after the relation; a name with spaces`,
		`likes(?x, a) owns(?x, b)`:       `letter 14, before "owns(?x, b)": want a comma, and another atom`,
		`likes(?x a)`:                    `letter 10, before "a)": want a comma after the first term`,
		`likes(?x, a`:                    `letter 12, at its end: want ) after the second term`,
		`likes(?, a)`:                    `letter 8, before ", a)": want a variable's name`,
		`likes(?x, )`:                    `letter 11, before ")": want a name`,
		`likes(?x, "a)`:                  `letter 11, before "\"a)": the quote has no end`,
		`likes(?x, a),`:                  `letter 14, at its end: want a relation`,
		`likes(é, ?x), hates(?x, a)`:     `letter 7, before "é, ?x), hates(?x, a)": unknown entity "é"`,
		`hates(?x, a)`:                   `letter 1, before "hates(?x, a)": unknown relation "hates"; closest: "likes"`,
		`likes(?x, c)`:                   `letter 11, before "c)": unknown entity "c"`,
		`likes(?y, a)`:                   `letter 1, before "likes(?y, a)": it has no variable ?x`,
		`likes(?x, a), owns(?y, b)`:      `letter 15, before "owns(?y, b)": no variable joins this atom`,
		`likes(?x, a), owns(a, b)`:       `letter 15, before "owns(a, b)": no variable joins this atom`,
		`likes(?x, ?y), owns(?y, ?x)`:    `letter 25, before "?x)": ?x is joined in a circle`,
		`likes(?x, a), owns(?x, ?x)`:     `letter 24, before "?x)": ?x is joined in a circle`,
		`likes(?x, ?y)`:                  `letter 7, before "?x, ?y)": nothing binds ?x: no atom without not leads to it from a name`,
		`not likes(?x, a)`:               `letter 11, before "?x, a)": nothing binds ?x`,
		`likes(?x, a), not owns(?x, ?y)`: `letter 28, before "?y)": nothing binds ?y`,
		`likes(?x, a), not owns(?x, ?y), likes(?y, ?z)`:  `letter 28, before "?y), likes(?y, ?z)": nothing binds ?y`,
		`likes(?x, ?y), not owns(?y, a), not owns(?x,b)`: `nothing binds ?x`,
	} {
		_, err := New(t.Context(), lookup, text, "x")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		`likes(?x, a), not owns(?x, ?y), likes(?y, b)`, `likes(?x, a), owns(?x, ?y), not likes(?y, b)`, `likes(a, ?x), likes(?x, ?y), owns(?z, ?y)`,
	} {
		for _, answer := range []string{"x", "?x"} {
			if p, err := New(t.Context(), lookup, text, answer); err != nil || p.Answer != "x" {
				t.Errorf("%s, %s: %v", text, answer, err)
			}
		}
	}
}

// FuzzParse checks that what is written is read again.
func FuzzParse(f *testing.F) {
	f.Add(`not likes("a b", ?y), "\"\\"(?x,b)`)
	f.Fuzz(func(t *testing.T, text string) {
		atoms, err := Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		var written []string
		for _, a := range atoms {
			written = append(written, a.String())
		}
		again, err := Parse(strings.Join(written, ","))
		if err != nil || len(again) != len(atoms) {
			t.Fatalf("%q is written as %q: %v", text, written, err)
		}
		for i, a := range again {
			if a.String() != atoms[i].String() {
				t.Errorf("%q is read as %v", written[i], a)
			}
		}
	})
}
