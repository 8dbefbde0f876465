package facts

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/rdf"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
)

// read returns the facts of a file as "line: head|relation|tail", and the bad lines' errors.
func read(t *testing.T, url string, o Options) (list, bad []string, counts Counts, err error) {
	t.Helper()
	if o.Prefixes == nil {
		o.Prefixes = &rdf.Prefixes{}
		if err := Prefixes(t.Context(), url, o.Format, o.Prefixes); err != nil {
			return nil, nil, counts, err
		}
	}
	counts, err = Read(t.Context(), url, o, func(line int, f Fact) error {
		list = append(list, fmt.Sprintf("%d: %s|%s|%s", line, f.Head, f.Relation, f.Tail))
		return nil
	}, func(b triples.BadLine) error {
		bad = append(bad, b.Error())
		return nil
	})
	return list, bad, counts, err
}

// put writes a text to memory and returns its URL.
func put(t testing.TB, name, text string) string {
	t.Helper()
	url := "mem://" + t.Name() + "/" + name
	if err := storage.WriteFile(t.Context(), url, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return url
}

// TestTablesOfOtherTools reads files that pandas 3.1 (with pyarrow 26) and DuckDB 2.0 wrote. They have the same facts,
// in columns of different orders, with quotes, an index, further columns, categories and several compressions.
func TestTablesOfOtherTools(t *testing.T) {
	want := []string{`Anna "Ann" Müller|knows|Berg, Bert`, `Berg, Bert|lives in|Köln`, `Köln|part of|NRW; Germany`, `O'Hara|knows|Anna "Ann" Müller`}
	header := Options{Header: true}
	for name, c := range map[string]struct {
		o     Options
		first int // row of the first fact
	}{
		"pandas.csv":           {header, 2},
		"pandas-index.csv":     {Options{Header: true, Columns: []string{"head", "relation", "tail"}}, 2},
		"pandas-semicolon.csv": {header, 2},
		"duckdb.csv":           {header, 2},
		"pandas.parquet":       {Options{}, 1},
		"pandas-gzip.parquet":  {Options{Columns: []string{"head", "relation", "tail"}}, 1},
		"duckdb.parquet":       {Options{Columns: []string{"head", "type", "3"}}, 1},
	} {
		if name == "duckdb.parquet" {
			c.o.Columns = []string{"head", "type", "2"} // a position counts from 1
		}
		url := "testdata/" + name
		var err error
		if c.o.Format, err = Detect(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		got, bad, _, err := read(t, url, c.o)
		var numbered []string
		for i, fact := range want {
			numbered = append(numbered, fmt.Sprintf("%d: %s", i+c.first, fact))
		}
		if diff := cmp.Diff(numbered, got); diff != "" || err != nil || len(bad) > 0 {
			t.Errorf("%s: bad lines %q, error %v, facts (-want +got):\n%s", name, bad, err, diff)
		}
	}
}

// TestRDFOfOtherTools reads the same graph that rdflib 7.6 wrote as N-Triples and in two styles of Turtle. It has
// literals, blank nodes, a list and an IRI that is not ASCII.
func TestRDFOfOtherTools(t *testing.T) {
	for _, c := range []struct{ name, prefix string }{{"rdflib.ttl", "kg:"}, {"rdflib-longturtle.ttl", "kg:"}, {"rdflib.nt", "http://example.org/kg/"}} {
		url := "testdata/" + c.name
		format, err := Detect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		got, bad, counts, err := read(t, url, Options{Format: format})
		if err != nil || len(bad) > 0 || counts.Literals != 4 {
			t.Errorf("%s: bad lines %q, %d literals, error %v", c.name, bad, counts.Literals, err)
		}
		// Blank nodes have other labels in each file: they are numbered by what they stand for.
		found := map[string]bool{}
		for _, line := range got {
			_, fact, _ := strings.Cut(line, ": ")
			var parts []string
			for _, name := range strings.Split(fact, "|") {
				if strings.HasPrefix(name, "_:") {
					name = "_"
				}
				parts = append(parts, strings.TrimPrefix(name, c.prefix))
			}
			found[strings.Join(parts, " ")] = true
		}
		want := map[string]bool{}
		for _, fact := range []string{
			"Anna rdf:type foaf:Person", "Anna foaf:knows Bert", "Bert foaf:based_near Köln/Süd", "Bert foaf:knows _", "_ foaf:knows mailto:x@example.org",
			"a.b foaf:knows c%20d", "club foaf:member _", "_ rdf:first Anna", "_ rdf:first Bert", "_ rdf:rest _", "_ rdf:rest rdf:nil",
		} {
			want[fact] = true
		}
		if diff := cmp.Diff(want, found); diff != "" || len(got) != len(want) {
			t.Errorf("%s: %d facts (-want +got):\n%s", c.name, len(got), diff)
		}
	}
}

// TestPackedTables reads tables whose names say that they are packed.
func TestPackedTables(t *testing.T) {
	for name, text := range map[string]string{"a.csv.gz": "# one\nhead,relation,tail\na,r,b\n", "a.tsv.gz": "# one\nhead\trelation\ttail\na\tr\tb\n"} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		format := TSV
		if strings.HasPrefix(name, "a.csv") {
			format = CSV
		}
		got, bad, _, err := read(t, put(t, name, packed.String()), Options{Format: format})
		if diff := cmp.Diff([]string{"3: a|r|b"}, got); diff != "" || err != nil || len(bad) > 0 {
			t.Errorf("%s: bad lines %q, error %v, facts (-want +got):\n%s", name, bad, err, diff)
		}
	}
}

// TestUnreadColumns names the columns that are not read, and counts the labels of false facts.
func TestUnreadColumns(t *testing.T) {
	chosen := []string{"1", "2", "3"}
	for name, c := range map[string]struct {
		file, text string
		o          Options
		want       []Column
	}{
		"labels": {"a.tsv", "a\tr\tb\t1\na\tr\tc\t-1\nb\tr\tc\t-1\n", Options{Format: TSV, Columns: chosen}, []Column{{Name: "column 4", False: 2}}},
		"labels of CSV": {"a.csv", "label,head,relation,tail\n0,a,r,b\n1,a,r,c\n1,b,r,c\n", Options{Format: CSV, Header: true},
			[]Column{{Name: "label", False: 1}}},
		"words":           {"a.csv", "a,r,b,true\na,r,c,false\nb,r,c,true\n", Options{Format: CSV, Columns: chosen}, []Column{{Name: "column 4", False: 1}}},
		"two rows":        {"a.tsv", "a\tr\tb\t1\na\tr\tc\t0\n", Options{Format: TSV, Columns: chosen}, []Column{{Name: "column 4"}}},
		"true facts":      {"a.tsv", "a\tr\tb\t1\n", Options{Format: TSV, Columns: chosen}, []Column{{Name: "column 4"}}},
		"numbers":         {"a.tsv", "a\tr\tb\t1\na\tr\tc\t0\na\tr\td\t2\n", Options{Format: TSV, Columns: chosen}, []Column{{Name: "column 4"}}},
		"keys":            {"a.jsonl", `{"h":"a","r":"r","t":"b","year":2020}` + "\n", Options{Format: JSONL}, []Column{{Name: "year"}}},
		"values":          {"a.jsonl", `["a","r","b",2020]` + "\n", Options{Format: JSONL, Columns: chosen}, []Column{{Name: "column 4"}}},
		"three columns":   {"a.tsv", "a\tr\tb\n", Options{Format: TSV}, nil},
		"names of others": {"a.csv", "h,r,t,source\na,r,b,x\n", Options{Format: CSV}, []Column{{Name: "source"}}},
	} {
		_, bad, counts, err := read(t, put(t, c.file, c.text), c.o)
		if diff := cmp.Diff(c.want, counts.Unread); diff != "" || err != nil || len(bad) > 0 {
			t.Errorf("%s: bad lines %q, error %v, columns (-want +got):\n%s", name, bad, err, diff)
		}
	}
}

// TestColumnOfVerdicts has tables whose rows are facts where the last verdict on them is true.
func TestColumnOfVerdicts(t *testing.T) {
	const heading = "head\trelation\ttail\tverdict\ttime\twho\tweight\n"
	for name, c := range map[string]struct {
		file, text      string
		o               Options
		facts, refused  string
		isFalse, others int64 // facts that are false, and rows on which no verdict counts
		bad             string
	}{
		"the last counts": {"verdicts.tsv", heading + "a\tr\tb\tfalse\t\t\t\nb\tr\tc\ttrue\t\t\t\na\tr\tb\ttrue\t\tida\t2\nb\tr\tc\tfalse\t\t\t\n",
			Options{Format: TSV, Header: true}, "4: a|r|b", "b r c", 1, 0, ""},
		"undone": {"verdicts.tsv", heading + "a\tr\tb\ttrue\t\t\t\na\tr\tb\tundo\t\t\t\n", Options{Format: TSV, Header: true}, "", "", 0, 1, ""},
		"by hand": {"verdicts.tsv", heading + "\"a\\tb\"\tr\tc\tTrue\n", Options{Format: TSV, Header: true}, "", "", 0, 0,
			"the head has a tab"},
		"a short row": {"verdicts.tsv", heading + "a\tr\tb\ttrue\n", Options{Format: TSV, Header: true}, "2: a|r|b", "", 0, 0, ""},
		"no heading":  {"verdicts.tsv", "a\tr\tb\ttrue\nb\tr\tc\tfalse\n", Options{Format: TSV}, "1: a|r|b", "b r c", 1, 0, ""},
		"a list of facts": {"list.csv", "p,head,relation,tail,verdict\n.9,a,r,b,\n.8,b,r,c,TRUE\n.7,c,r,d,false\n", Options{Format: CSV}, "3: b|r|c",
			"c r d", 1, 1, ""},
		"names that are given": {"list.csv", "who,does,whom,Verdict\na,r,b,true\nc,r,b,false\n",
			Options{Format: CSV, Header: true, Columns: []string{"who", "does", "whom"}}, "2: a|r|b", "c r b", 1, 0, ""},
		"another word": {"list.csv", "head,relation,tail,verdict\na,r,b,guilty\n", Options{Format: CSV}, "", "", 0, 0,
			"list.csv:2: the verdict is \"guilty\"; write true, false or undo"},
		"another column": {"list.csv", "head,relation,tail,judge\na,r,b,true\n", Options{Format: CSV}, "2: a|r|b", "", 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			url := put(t, c.file, c.text)
			list, bad, counts, err := read(t, url, c.o)
			if strings.Join(list, " ") != c.facts || err != nil || int64(len(counts.JudgedFalse)) != c.isFalse || counts.Unjudged != c.others {
				t.Errorf("facts %q, %d false, %d without a verdict, %v", list, len(counts.JudgedFalse), counts.Unjudged, err)
			}
			if text := strings.Join(bad, " "); !strings.Contains(text, c.bad) || (c.bad == "") != (text == "") {
				t.Errorf("bad lines %q, want %q", text, c.bad)
			}
			var refused []string
			for _, f := range counts.JudgedFalse {
				refused = append(refused, f.Head+" "+f.Relation+" "+f.Tail)
			}
			if strings.Join(refused, "|") != c.refused {
				t.Errorf("refused %q", refused)
			}
		})
	}
}

func TestBadRows(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		o                Options
		facts            []string
		bad              []string // FILE stands for the URL
		err              string
	}{
		{"names of columns", "a.csv", "id,head,relation,tail\n1,a,r,b\n", Options{Format: CSV}, []string{"2: a|r|b"}, nil, ""},
		{"KGTK", "a.tsv", "id\tnode1\tlabel\tnode2\n1\ta\tr\tb\n", Options{Format: TSV}, []string{"2: a|r|b"}, nil, ""},
		{"neo4j-admin", "a.csv", ":START_ID(P),since,:END_ID(P),:TYPE\na,1,b,r\n", Options{Format: CSV}, []string{"2: a|r|b"}, nil, ""},
		{"two spaces of ids", "a.csv", ":START_ID(P),:END_ID(M),:TYPE\n1,1,r\n", Options{Format: CSV, Header: true}, nil, nil,
			"FILE:1: :START_ID(P) and :END_ID(M) are ids of different spaces: one id in both would be one entity; give each node an id of its own, then " +
				"--columns :START_ID(P),:TYPE,:END_ID(M)"},
		{"two spaces of ids that differ", "a.csv", ":START_ID(P),:END_ID(M),:TYPE\np1,m1,r\n",
			Options{Format: CSV, Header: true, Columns: []string{":START_ID(P)", ":TYPE", ":END_ID(M)"}}, []string{"2: p1|r|m1"}, nil, ""},
		{"APOC", "a.csv", `"_id","_labels","name","_start","_end","_type"` + "\n" + `"0",":P","Ann",,,` + "\n" + `,,,"0","1","KNOWS"` + "\n",
			Options{Format: CSV}, []string{"3: 0|KNOWS|1"}, []string{"FILE:2: the head is empty"}, ""},
		{"SSSOM", "a.tsv", "# curie_map:\n#   a: http://a/\nsubject_id\tpredicate_id\tobject_id\tcomment\na\tr\tb\tx\nc\tr\n", Options{Format: TSV},
			[]string{"4: a|r|b"}, []string{"FILE:5: 2 fields, but the header has 4"}, ""},
		{"comments with separators", "a.csv", "# one, two, three\n#Subject,Predicate,Object\na,r,b\n", Options{Format: CSV}, []string{"3: a|r|b"}, nil, ""},
		{"CSV below comments", "a.csv", "# one\n# two\ns,p,o\na,r\"s,b\n", Options{Format: CSV}, nil, []string{`FILE:4: not CSV: bare "`}, ""},
		{"comments before facts", "a.tsv", "# made by hand\na\tr\tb\n#c\tr\td\n", Options{Format: TSV}, []string{"2: a|r|b", "3: #c|r|d"}, nil, ""},
		{"names that begin with #", "a.csv", "#a,r,#b\n#c,r,d\ne,r,f\n", Options{Format: CSV}, []string{"1: #a|r|#b", "2: #c|r|d", "3: e|r|f"}, nil, ""},
		{"nested JSON", "a.jsonl", `{"type":"relationship","label":"KNOWS","start":{"id":"0"},"end":{"id":"1"}}` + "\n" + `{"type":"node","id":"0"}` + "\n",
			Options{Format: JSONL}, []string{"1: 0|KNOWS|1"}, []string{"FILE:2: the keys are type, id; write"}, ""},
		{"chosen nested JSON", "a.jsonl", `{"p":{"n":{"x":"a"}},"r":"r","q":{"x":"b"}}` + "\n", Options{Format: JSONL, Columns: []string{"p.n.x", "r", "q.x"}},
			[]string{"1: a|r|b"}, nil, ""},
		{"many keys", "a.jsonl", "{" + strings.Repeat(`"head":"a",`, 100) + `"tail":"b"}` + "\n" + `{"` + strings.Repeat("k", 300) + `":1}` + "\n",
			Options{Format: JSONL}, nil, []string{
				`FILE:1: the key "head" stands twice; `, "FILE:2: the keys are " + strings.Repeat("k", 200) + "... (300 bytes); ",
			}, ""},
		{"a key twice", "a.jsonl", `{"h":"a","r":"r","t":"b","h":"c"}` + "\n" + `{"h":"a","r":"r","t":"b","x":{"y":1,"y":2}}` + "\n", Options{Format: JSONL},
			nil, []string{`FILE:1: the key "h" stands twice; `, `FILE:2: the key "x.y" stands twice; `}, ""},
		{"lone surrogates", "a.jsonl", `["\ud800","r","\udc00"]` + "\n" + `["\ud83d\ude00","r","\ufffd�"]` + "\n" + `["a\uD83Dx","r","\uFFFD"]` + "\n",
			Options{Format: JSONL}, []string{"2: 😀|r|��"},
			[]string{`FILE:1: the head is "\ud800", with half of a surrogate pair`, `FILE:3: the head is "a\uD83Dx", with half`}, ""},
		{"RDF-star", "a.nt",
			"<< <http://a/b> <http://a/r> <http://a/c> >> <http://a/r> <http://a/d> .\n<http://a/b> <http://a/r> <<( <http://a/b> <http://a/r> " +
				"<http://a/c> )>> .\n<http://a/b> <http://a/r> <http://a/c> .\n", Options{Format: NTriples}, []string{"3: http://a/b|http://a/r|http://a/c"},
			[]string{
				"FILE:1: not a statement of N-Triples: a statement about a statement (RDF-star), which is not read; leave it out: ",
				"FILE:2: not a statement of N-Triples: a statement about",
			}, ""},
		{"RDF-star in Turtle", "a.ttl", "@prefix : <http://a/> .\n<<\n:b :r :c >> :r :d .\n", Options{Format: Turtle, Prefixes: &rdf.Prefixes{}}, nil, nil,
			"FILE:2: not Turtle: a statement about a statement (RDF-star), which is not read; leave it out: "},
		{"RDF-star as an object", "a.ttl", "@prefix : <http://a/> .\n:b :r <<( :b :r :c )>> .\n", Options{Format: Turtle, Prefixes: &rdf.Prefixes{}}, nil, nil,
			"FILE:2: not Turtle: a statement about"},
		{"RDF-star as a name", "a.ttl", "@prefix : <http://a/> .\n:b :r :c ~ :d .\n", Options{Format: Turtle, Prefixes: &rdf.Prefixes{}},
			[]string{"2: http://a/b|http://a/r|http://a/c"}, nil, "FILE:2: not Turtle: a statement about"},
		{"RDF-star as an annotation", "a.ttl", "@prefix : <http://a/> .\n:b :r :c {| :r :d |} .\n", Options{Format: Turtle, Prefixes: &rdf.Prefixes{}},
			[]string{"2: http://a/b|http://a/r|http://a/c"}, nil, "FILE:2: not Turtle: a statement about"},
		{"names of columns are facts", "a.csv", "h,r,t\n", Options{Format: CSV, NoHeader: true}, []string{"1: h|r|t"}, nil, ""},
		{"too many", "a.csv", "a,r,b,c\na,r,b\n", Options{Format: CSV}, []string{"2: a|r|b"},
			[]string{"FILE:1: 4 fields instead of 3; choose head, relation and tail with --columns"}, ""},
		{"no such column", "a.csv", "x,y,z\na,r,b\n", Options{Format: CSV, Header: true, Columns: []string{"x", "y", "w"}}, nil, nil,
			`FILE:1: no column is named "w"; give --columns others: there are x, y, z`},
		{"two columns of that name", "a.csv", "x,y,x\na,r,b\n", Options{Format: CSV, Header: true, Columns: []string{"x", "y", "3"}}, nil, nil,
			`FILE:1: two columns are named "x"; give --columns positions`},
		{"tabs", "a.csv", "a\tr\tb\n", Options{Format: CSV}, nil, []string{"FILE:1: tabs where commas belong; read the file with --format tsv"}, ""},
		{"too few", "a.csv", "a\n", Options{Format: CSV}, nil,
			[]string{"FILE:1: 1 field instead of 3; give every line a head, a relation and a tail, separated by commas"}, ""},
		{"spaces for tabs", "a.tsv", "a r b\na r\tb\na\n", Options{Format: TSV}, nil,
			[]string{"FILE:1: spaces where tabs belong; separate head, relation and tail by single tabs", "FILE:2: 2 fields instead of 3; separate",
				"FILE:3: 1 field instead of 3; separate"}, ""},
		{"spaces for tabs, columns", "a.tsv", "a r b\n", Options{Format: TSV, Columns: []string{"1", "2", "3"}}, nil,
			[]string{"FILE:1: spaces where tabs belong; separate"}, ""},
		{"spaces for tabs below a header", "a.tsv", "x\ty\tz\na r b\n", Options{Format: TSV, Header: true}, nil,
			[]string{"FILE:2: spaces where tabs belong; separate"}, ""},
		{"position beyond", "a.tsv", "a\tr\tb\n", Options{Format: TSV, Columns: []string{"1", "2", "4"}}, nil,
			[]string{"FILE:1: 3 fields, but field 4 is chosen; give every line the same fields, or choose others with --columns"}, ""},
		{"position 0", "a.tsv", "a\tr\tb\n", Options{Format: TSV, Columns: []string{"0", "2", "3"}}, nil, nil,
			"FILE:1: there is no column 0; give --columns others"},
		{"unlike the header", "a.csv", "x,y,z\na,r\n", Options{Format: CSV, Header: true}, nil, []string{"FILE:2: 2 fields, but the header has 3"}, ""},
		{"quote within", "a.csv", "a,r\"s,b\nc,r,d\n", Options{Format: CSV}, []string{"2: c|r|d"}, []string{`FILE:1: not CSV: bare " in non-quoted-field`}, ""},
		{"line break in a name", "a.csv", "a,r,\"b\nc\"\nd,r,e\n", Options{Format: CSV}, []string{"3: d|r|e"},
			[]string{"FILE:1: the tail has a tab, a line break or NUL"}, ""},
		{"tab in a name", "a.csv", "a,\"r\ts\",b\n", Options{Format: CSV}, nil, []string{"FILE:1: the relation has a tab"}, ""},
		{"empty name", "a.csv", "a,,b\n", Options{Format: CSV}, nil, []string{"FILE:1: the relation is empty"}, ""},
		{"invalid UTF-8", "a.csv", "a,r,\xff\n", Options{Format: CSV}, nil, []string{"FILE:1: the tail is not valid UTF-8"}, ""},
		{"long name", "a.csv", "a,r," + strings.Repeat("x", triples.MaxName+1) + "\n", Options{Format: CSV}, nil,
			[]string{"FILE:1: the tail has 4097 bytes, the limit for a name is 4096"}, ""},
		{"inverse", "a.csv", "a,~r,b\n", Options{Format: CSV}, nil, []string{`FILE:1: relation "~r" begins with ~`}, ""},
		{"UTF-16", "a.csv", "\xff\xfea\x00,\x00", Options{Format: CSV}, nil, nil, "FILE:1: the file is UTF-16 text; save it as UTF-8"},
		{"mixed line ends and a mark", "a.csv", "\ufeffa,r,b\r\nc,r,d\ne,r,f", Options{Format: CSV}, []string{"1: a|r|b", "2: c|r|d", "3: e|r|f"}, nil, ""},
		{"empty", "a.csv", "", Options{Format: CSV}, nil, nil, "FILE: the file is empty"},
		{"quote without end", "a.csv", "c,r,d\na,r,\"" + strings.Repeat("b,r,c\n", triples.MaxLine/5), Options{Format: CSV}, []string{"1: c|r|d"}, nil,
			"FILE:2: the record here does not end within"},
		{"blank line", "a.tsv", "x\ty\tz\na\tr\tb\n\nc\tr\td\n", Options{Format: TSV, Header: true}, []string{"2: a|r|b", "4: c|r|d"},
			[]string{"FILE:3: blank line; remove it"}, ""},
		{"blank lines at the end", "a.tsv", "x\ty\tz\na\tr\tb\n\r\n\n", Options{Format: TSV, Header: true}, []string{"2: a|r|b"}, nil, ""},
		{"blank lines at the end of CSV", "a.csv", "a,r,b\n\r\n\n", Options{Format: CSV}, []string{"1: a|r|b"}, nil, ""},
		{"no statement", "a.nt", "<http://a/b> <http://a/r> <http://a/c> .\n# comment\n\n<http://a/b> <http://a/r> .\n", Options{Format: NTriples},
			[]string{"1: http://a/b|http://a/r|http://a/c"},
			[]string{`FILE:4: not a statement of N-Triples: "." is neither an IRI nor a blank node nor a literal`}, ""},
		{"Turtle", "a.ttl", "@prefix a: <http://a/> .\na:b a:r a:c .\na:b a:r a:d\na:e a:r a:f .\n", Options{Format: Turtle, Prefixes: &rdf.Prefixes{}},
			[]string{"2: http://a/b|http://a/r|http://a/c", "3: http://a/b|http://a/r|http://a/d"}, nil,
			"FILE:4: not Turtle: 'a' stands where a comma, a semicolon or '.' belongs"},
		{"JSON lines", "a.jsonl",
			`{"head": "Ada \"L\"", "relation": "knows", "tail": 7, "since": 1840}` + "\n" + `["a", "r", "b"]` + "\n\n" +
				` {"Object":"b","subject":"a","predicate":"r"}` + "\r\n\n", Options{Format: JSONL}, []string{`1: Ada "L"|knows|7`, "2: a|r|b", "4: a|r|b"},
			[]string{"FILE:3: blank line; write"}, ""},
		{"bad JSON lines", "a.jsonl",
			`{"head": "a", "relation": "r"}` + "\n" + `["a","r"]` + "\n" + `{"h":"a","r":null,"t":"b"}` + "\n" + `["a","r",["b"]]` + "\n" + `{"h":"a"` + "\n" +
				`["a","r","b\tc"]` + "\n7\n" + `["a","r",1.5]` + "\n" + `["","r","b"]`, Options{Format: JSONL}, nil, []string{
				"FILE:1: the keys are head, relation; write", "FILE:2: 2 values instead of 3", "FILE:3: the relation is null, neither a text nor an integer",
				`FILE:4: the tail is ["b"], neither`,
				"FILE:5: not a JSON object or array: unexpected end", "FILE:6: the tail has a tab, a line break or NUL", "FILE:7: not a JSON object or array",
				"FILE:8: the tail is 1.5", "FILE:9: the head is empty",
			}, ""},
		{"keys of JSON lines", "a.jsonl", `{"from": "a", "verb": "r", "to": "b"}` + "\n" + `["x", "a", "r", "b"]` + "\n",
			Options{Format: JSONL, Columns: []string{"from", "verb", "to"}}, []string{"1: a|r|b"}, []string{`FILE:2: no column is named "from"; write`}, ""},
		{"positions in JSON lines", "a.jsonl", `["x", "a", "r", "b"]` + "\n" + `["a", "r"]` + "\n" + `{"1":"a"}` + "\n",
			Options{Format: JSONL, Columns: []string{"2", "3", "4"}}, []string{"1: a|r|b"},
			[]string{"FILE:2: 2 values, but value 3 is chosen", "FILE:3: the keys are 1"}, ""},
		{"N-Quads", "a.nq",
			"<http://a/b> <http://a/r> <http://a/c> <http://a/g> .\n_:b <http://a/r> _:c _:g .\n<http://a/b> <http://a/r> <http://a/c> .\n<http://a/b> " +
				"<http://a/r> <http://a/c> \"g\" .\n", Options{Format: NQuads, Prefixes: &rdf.Prefixes{}},
			[]string{"1: http://a/b|http://a/r|http://a/c", "2: _:b|http://a/r|_:c", "3: http://a/b|http://a/r|http://a/c"},
			[]string{"FILE:4: not a statement of N-Triples: the name of the graph is a literal"}, ""},
		{"N-Quads as N-Triples", "a.nt", "<http://a/b> <http://a/r> <http://a/c> <http://a/g> .\n", Options{Format: NTriples, Prefixes: &rdf.Prefixes{}}, nil,
			[]string{"FILE:1: a statement of N-Quads, with the name of a graph; --format nquads reads it without that name"}, ""},
		{"OpenKE", "train2id.txt", "3\n0 1 2\n0 1\n3\t4\t5\n", Options{Format: OpenKE}, []string{"2: 0|2|1", "4: 3|5|4"},
			[]string{"FILE:3: 2 fields instead of 3; write the ids of head, tail and relation, in this order"}, ""},
		{"OpenKE without number", "train2id.txt", "0 1 2\n", Options{Format: OpenKE}, nil, nil, "FILE:1: the first line is not the number of the others"},
		{"OpenKE cut short", "train2id.txt", "3\n0 1 2\n", Options{Format: OpenKE}, []string{"2: 0|2|1"}, nil,
			"FILE:1: the first line announces 3 lines, but there are 1"},
		{"no Parquet", "a.parquet", "PAR1 and no more", Options{Format: Parquet}, nil, nil, "reading FILE: not a Parquet file, or damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := put(t, c.file, c.text)
			got, bad, _, err := read(t, url, c.o)
			if diff := cmp.Diff(c.facts, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if len(bad) != len(c.bad) {
				t.Fatalf("bad lines %q, want %q", bad, c.bad)
			}
			for i, want := range c.bad {
				if want = strings.Replace(want, "FILE", url, 1); !strings.HasPrefix(bad[i], want) {
					t.Errorf("bad line %q, want %q", bad[i], want)
				}
			}
			want := strings.Replace(c.err, "FILE", url, 1)
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

// TestInterrupt cancels the reading of a file without facts, such as labels only, in its middle: nothing else would
// notice the interrupt before its end.
func TestInterrupt(t *testing.T) {
	for format, line := range map[Format]string{
		NTriples: "<http://a> <http://r> \"x\" .\n", Turtle: "<http://a> <http://r> 'x' .\n", CSV: "\n", TSV: "\n", OpenKE: "\n",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		start := "a\n"
		if format == OpenKE {
			start = "1\na\n"
		} else if format == Turtle {
			start = "<http://a> <http://r> <http://b> .\n"
		}
		url := put(t, "a.txt", start+strings.Repeat(line, 1<<22/len(line)))
		stop := func(triples.BadLine) error { cancel(); return nil }
		_, err := Read(ctx, url, Options{Format: format, NoHeader: true, Prefixes: &rdf.Prefixes{}}, func(int, Fact) error { cancel(); return nil }, stop)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
		cancel()
	}
}

// TestParquetCutAnywhere cuts and damages a file: no reader may panic.
func TestParquetCutAnywhere(t *testing.T) {
	whole, err := storage.ReadFile(t.Context(), "testdata/duckdb.parquet")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Format: Parquet, Columns: []string{"head", "type", "tail"}}
	for n := range whole {
		if _, _, _, err := read(t, put(t, "cut.parquet", string(whole[:n])), o); err == nil {
			t.Errorf("the first %d bytes were read", n)
		}
		damaged := bytes.Clone(whole)
		damaged[n] ^= 0x40
		read(t, put(t, "damaged.parquet", string(damaged)), o)
	}
	_, _, _, err = read(t, "testdata/duckdb.parquet", Options{Format: Parquet, Columns: []string{"weight", "type", "tail"}})
	if err == nil || !strings.Contains(err.Error(), `column "weight" has the type`) {
		t.Errorf("a column of numbers: %v", err)
	}
	_, _, _, err = read(t, "testdata/duckdb.parquet", Options{Format: Parquet})
	if err == nil || !strings.Contains(err.Error(), "the columns are weight, tail, type, head; say with --columns") {
		t.Errorf("four columns: %v", err)
	}
}

// TestUnsigned reads a file that pyarrow wrote: hashes of 64 bits, and others of 32, keep their numbers.
func TestUnsigned(t *testing.T) {
	got, bad, _, err := read(t, "testdata/unsigned.parquet", Options{Format: Parquet})
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	if diff := cmp.Diff([]string{"1: 9223372036854775813|4000000000|200", "2: 1|7|-3"}, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// TestRawLZ4 reads a file that pyarrow wrote.
func TestRawLZ4(t *testing.T) {
	got, bad, _, err := read(t, "testdata/lz4.parquet", Options{Format: Parquet})
	if err != nil || len(bad) > 0 || len(got) == 0 {
		t.Errorf("facts %q, bad lines %q, error %v", got, bad, err)
	}
}

func TestDetect(t *testing.T) {
	found := map[Format]bool{OpenKE: true} // which the name of a file in its folder shows
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.csv", "a\tr\tb\n", CSV}, {"a.CSV.gz", "", CSV}, {"a.tsv", "a,r,b\n", TSV}, {"a.nt", "", NTriples}, {"a.ttl.zst", "", Turtle},
		{"a.parquet", "", Parquet},
		{"a.txt", "a\tr\tb\n", TSV}, {"a.txt", "a,r,b\n", CSV}, {"a.txt", "a,b,c\tr\td\n", TSV}, {"a", "\n<http://a> <http://r> <http://b> .\n", NTriples},
		{"a.txt", "# comment\n@prefix a: <http://a/> .\n", Turtle}, {"a", "PREFIX a: <http://a/>\n", Turtle}, {"a.txt", "a r b\n", TSV}, {"a.txt", "", TSV},
		{"a.dat", "PAR1", Parquet},
		{"a.jsonl.gz", "", JSONL}, {"a.NDJSON", "", JSONL}, {"a.txt", `{"head": "a", "relation": "r", "tail": "b"}` + "\n", JSONL},
		{"a.json", `["a", "r", "b"]` + "\n", JSONL}, {"a.txt", "{\"a\"\tr\tb\n", TSV},
		{"a.nq", "", NQuads}, {"a.txt", "<http://a> <http://r> <http://b> <http://g> .\n", NQuads},
	} {
		if got, err := Detect(t.Context(), put(t, c.name, c.text)); err != nil || got != c.want {
			t.Errorf("%s %q: %s, %v; want %s", c.name, c.text, got, err, c.want)
		}
		found[c.want] = true
	}
	for _, format := range Formats {
		if !found[format] {
			t.Errorf("no file of %s is here", format)
		}
	}
}

// TestDivide has beginnings of texts, and how they are divided.
func TestDivide(t *testing.T) {
	t.Parallel()
	const comma, semicolon = ',', ';'
	for name, c := range map[string]struct {
		text string
		o    Options
		want Division
		err  string
	}{
		"plain":  {"a\tr\tb\n", Options{Format: TSV}, Division{Separator: '\t'}, ""},
		"commas": {"a,r,b\n", Options{Format: CSV}, Division{Separator: comma, Quoted: true}, ""},
		"semicolons, commas within": {"source;relation;target\nMarsh, Ida;mentor of;Kohl, Ben\n", Options{Format: CSV},
			Division{Separator: semicolon, Quoted: true, Heading: true}, ""},
		"semicolons, no heading":    {"Marsh, Ida;of;Kohl\nRoy;of;Kohl, Ben\n", Options{Format: CSV}, Division{Separator: semicolon, Quoted: true}, ""},
		"commas, semicolons within": {"a;b,r,c\nd,r,e;f;g\n", Options{Format: CSV}, Division{Separator: comma, Quoted: true}, ""},
		"bars":                      {"a, b|r|c\nd|r|e\n", Options{Format: CSV}, Division{Separator: '|', Quoted: true}, ""},
		"commas within quotes":      {"\"a;b;c\",r,\"d;e\"\nf,r,\"g, h\"\n", Options{Format: CSV}, Division{Separator: comma, Quoted: true}, ""},
		"either": {"Marsh, Ida;of;Kohl, Ben\nRoy, Eve;of;Kohl, Ben\n", Options{Format: CSV}, Division{},
			`by ',' (["Marsh" " Ida;of;Kohl" " Ben"]) or by ';' (["Marsh, Ida" "of" "Kohl, Ben"]); write sep=, or sep=; in a line`},
		"either, columns chosen": {"x, y;of;z, w\na, b;r;c, d\n", Options{Format: CSV, Columns: []string{"x, y", "of", "z, w"}},
			Division{Separator: semicolon, Quoted: true}, ""},
		"sep": {"sep=;\nx, a;of;b\n", Options{Format: CSV}, Division{Separator: semicolon, Quoted: true, Skipped: 1}, ""},
		"sep of tabs": {"\ufeff\"SEP=\t\"\r\nhead\trelation\ttail\r\na\tr\tb\r\n", Options{Format: CSV},
			Division{Separator: '\t', Skipped: 1, Heading: true}, ""},
		"sep in a text of tabs": {"sep=|\n\nhead|relation|tail\na|r|b\n", Options{Format: TSV},
			Division{Separator: '|', Quoted: true, Skipped: 2, Heading: true}, ""},
		"no sep": {"sep=x\ta\tb\nc\td\te\n", Options{Format: TSV}, Division{Separator: '\t'}, ""},
		"an empty line first": {"\n \t\r\nhead,relation,tail\na,r,b\n", Options{Format: CSV},
			Division{Separator: comma, Quoted: true, Skipped: 2, Heading: true}, ""},
		"empty lines and comments": {"\n# made by x\n#head\trelation\ttail\na\tr\tb\n", Options{Format: TSV},
			Division{Separator: '\t', Skipped: 2, Comments: 1, Heading: true}, ""},
		"of R": {"\"a\"\t\"r\"\t\"b\"\n\"c\"\t\"r\"\t\"b\"\n", Options{Format: TSV}, Division{Separator: '\t', Quoted: true}, ""},
		"of R, with row names": {"\"head\"\t\"relation\"\t\"tail\"\n\"1\"\t\"a\"\t\"r\"\t7\n\"2\"\t\"c\"\t\"r\"\tNA\n", Options{Format: TSV},
			Division{Separator: '\t', Quoted: true, Heading: true, RowNames: true}, ""},
		"of R, behind comments and before a blank line": {"# by R\n\n\"head\"\t\"relation\"\t\"tail\"\n\"a\"\t\"r\"\t\"b\"\n\n", Options{Format: TSV},
			Division{Separator: '\t', Quoted: true, Skipped: 2, Comments: 1, Heading: true}, ""},
		"of R, with dates and logical values": {"\"head\"\t\"relation\"\t\"tail\"\t\"on\"\t\"is\"\n\"a\"\t\"r\"\t\"b\"\t2020-01-31\tTRUE\n",
			Options{Format: TSV},
			Division{Separator: '\t', Quoted: true, Heading: true}, ""},
		"comments alone":         {"# one\n\n# two\n", Options{Format: CSV}, Division{Separator: comma, Quoted: true, Skipped: 3, Comments: 2}, ""},
		"rows that begin with #": {"#a;r;b\n#c;r;b\n\n", Options{Format: CSV}, Division{Separator: semicolon, Quoted: true}, ""},
		"comments, blank lines and a heading": {"# one\n\n# two\n\nhead,relation,tail\na,r,b\n", Options{Format: CSV},
			Division{Separator: comma, Quoted: true, Skipped: 4, Comments: 2, Heading: true}, ""},
		"row names": {"head,relation,tail\n1,a,r,b\n2,a,r,c\nhead,relation,tail\n1,d,r,b\n\n", Options{Format: CSV},
			Division{Separator: comma, Quoted: true, Heading: true, RowNames: true}, ""},
		"row names, and positions": {"head,relation,tail\n1,a,r,b\n2,a,r,c\n", Options{Format: CSV, Header: true, Columns: []string{"1", "2", "3"}},
			Division{Separator: comma, Quoted: true, Heading: true}, ""},
		"notes, and no row names": {"head,relation,tail\na,r,b,note\na,r,c,note\n", Options{Format: CSV},
			Division{Separator: comma, Quoted: true, Heading: true}, ""},
		"separators at the end, and no row names": {"head\trelation\ttail\twhen\na\tr\tb\t2001\t\nc\tr\td\t2002\t\n", Options{Format: TSV},
			Division{Separator: '\t', Heading: true}, ""},
		"either, but for quotes": {"\"Marsh; Ida\",of,\"Kohl; Ben\"\nRoy; Eve,of,Kohl; Ben\n", Options{Format: CSV}, Division{Separator: comma, Quoted: true},
			""},
		"pairs with quotes":  {"1,\"Marsh; Ida\"\n2,\"Roy; Eve\"\n", Options{Format: CSV, pairs: true}, Division{Separator: comma, Quoted: true}, ""},
		"quotes in one line": {"\"a\"\t\"r\"\t\"b\"\n\"c\"\tr\t\"b\"\n", Options{Format: TSV}, Division{Separator: '\t'}, ""},
		"numbers":            {"1\t2\t3\n", Options{Format: TSV}, Division{Separator: '\t'}, ""},
		"no line":            {"\n\n", Options{Format: CSV}, Division{Skipped: 2, Empty: true}, ""},
		"uneven":             {"a,r,b\nc,r\nd;r;e\n", Options{Format: CSV}, Division{Separator: comma, Quoted: true}, ""},
		"uneven semicolons":  {"a;r;b\nc;r\n", Options{Format: CSV}, Division{Separator: semicolon, Quoted: true}, ""},
		"pairs":              {"a, b;t\nc;t\n", Options{Format: CSV, pairs: true}, Division{Separator: semicolon, Quoted: true}, ""},
	} {
		got, err := Divide(t.Context(), put(t, name, c.text), c.o)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %+v, error %v, want %s", name, got, err, c.err)
			}
		} else if got != c.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	// The last record of a long text may be cut.
	long := strings.Repeat("Marsh, Ida;mentor of;Kohl\n", startBytes/20)
	if got, err := Divide(t.Context(), put(t, "long", long), Options{Format: CSV}); err != nil || got.Separator != semicolon {
		t.Errorf("a long text: %+v, %v", got, err)
	}
	// Of a longer first line one cannot tell.
	long = "a;r;b;" + strings.Repeat("x,", startBytes) + "\nc;r;b;x\n"
	if got, err := Divide(t.Context(), put(t, "wide", long), Options{Format: CSV}); err != nil || got.Separator != comma {
		t.Errorf("a long line: %+v, %v", got, err)
	}
}

// TestPairs has tables beside the facts: which columns are read.
func TestPairs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of         Pairs
		file, text string
		want       string
		left       []string
	}{
		"two columns":       {TypesOf, "t.tsv", "a\tx\nb\ty\n", "a=x b=y", nil},
		"a heading":         {TypesOf, "t.tsv", "entity\ttype\na\tx\n", "a=x", nil},
		"in another order":  {TypesOf, "t.csv", "kind,note,id\nx,1,a\n", "a=x", []string{"note"}},
		"id before name":    {TypesOf, "t.csv", "name;id;class\nAda;a;x\n", "a=x", []string{"name"}},
		"by name":           {TypesOf, "t.tsv", "name\ttype\tage\nAda\tx\t3\n", "Ada=x", []string{"age"}},
		"names":             {NamesOf, "n.csv", "id,type,label\n1,x,Ada\n", "1=Ada", []string{"type"}},
		"three, no heading": {NamesOf, "n.tsv", "1\tAda\tthe first\n", "1=Ada", []string{"column 3"}},
		"of R":              {NamesOf, "n.tsv", "\"id\"\t\"name\"\n\"1\"\t\"Ada \\\"A\\\"\"\n", `1=Ada "A"`, nil},
		"half of a heading": {TypesOf, "t.csv", "id,cluster,score\na,x,1\n",
			"the columns are id, cluster, score: which are an entity and its type?; name them id and type", nil},
		"spreadsheet": {NamesOf, "n.csv", "sep=;\nID;Name\n1;Ada\n", "1=Ada", nil},
		"KGTK":        {NamesOf, "n.tsv", "id\tnode1\tlabel\tnode2\ne1\tQ1\tlabel\t'Ada'@en\n", "Q1='Ada'@en", []string{"id", "label"}},
		"KGTK of types, and a column without a name": {TypesOf, "t.csv", ",node1,label,node2\n1,Q1,P31,Q5\n", "Q1=Q5", []string{"column 1", "label"}},
		"a field is missing":                         {TypesOf, "t.csv", "id,type\na\n", "1 field instead of 2", nil},
	} {
		var found []string
		columns, err := c.of.Read(t.Context(), put(t, c.file, c.text), func(_ int, key, value string) error {
			found = append(found, key+"="+value)
			return nil
		}, func(b triples.BadLine) error { return b })
		if got := strings.Join(found, " "); got != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) || !slices.Equal(columns.Left, c.left) {
			t.Errorf("%s: %s, %v, not read %q; want %s, %q", name, got, err, columns.Left, c.want, c.left)
		}
	}
}

// TestForeign finds out what files are that are not read, by their names or their beginnings.
func TestForeign(t *testing.T) {
	tar := strings.Repeat("\x00", 257) + "ustar\x00"
	for _, c := range []struct{ name, text, want string }{
		{"a.tar.gz", "", "an archive: unpack it first"}, {"a.TGZ", "", "an archive"}, {"a.zip", "", "an archive"},
		{"a", "PK\x03\x04", "a zip file: unpack it first"},
		{"a.txt", tar, "a tar file"}, {"a.tsv.xz", "\xfd7zXZ\x00\x00", "an xz file: unpack it first"}, {"a.txt", "\x1f\x9d\x90", "a compress (.Z) file"},
		{"a.rdf", "", "RDF/XML, which is not read: convert it"}, {"a.owl.bz2", "", "RDF/XML"}, {"a.txt", "<?xml version=\"1.0\"?>\n", "RDF/XML"},
		{"a.jsonld", "", "JSON-LD"}, {"a.json", "{\"@context\": {}}", "JSON-LD"}, {"a.json", "[\n  {\n\"@id\": \"x\"}]", "JSON-LD"},
		{"a.json", `[{"head": "a"}, {"head": "b"}]`, "JSON that is not one fact a line"}, {"a.json", "[\n {", "JSON that is not"},
		{"a.json", "{\n \"facts\": [", "JSON that is not"},
		{"a.trig", "", "TriG"}, {"a.xlsx", "", "a spreadsheet: save it as CSV first"},
	} {
		url := put(t, c.name, c.text)
		if format, err := Detect(t.Context(), url); err == nil || !strings.HasPrefix(err.Error(), url+" is "+c.want) {
			t.Errorf("%s %q: %s, %v; want %s", c.name, c.text, format, err, c.want)
		}
	}
}

// FuzzJSONLines checks that every line is a fact, is bad, or is blank at the end, and that a fact's
// names are in its line.
func FuzzJSONLines(f *testing.F) {
	for _, text := range []string{"", "[\"a\",\"r\",\"b\"]\n", "{\"head\":\"a\",\"relation\":\"r\",\"tail\":-1}\n\n", "{\"s\":1,\"p\":null}", "[1,2,3]\n{",
		"\x1f\x8b", "[\"\\ud800\",\"r\",\"b\"]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		next := func(line int) {
			if line <= last {
				t.Fatalf("line %d comes after %d", line, last)
			}
			last = line
		}
		plain := !triples.Packed([]byte(text)) && !strings.HasPrefix(text, "\xff\xfe") && !strings.HasPrefix(text, "\xfe\xff")
		lines := strings.Split(text, "\n")
		_, err := readObjects("f", strings.NewReader(text), Options{}, func(line int, fact Fact) error {
			next(line)
			if plain && !json.Valid([]byte(strings.TrimPrefix(lines[line-1], "\ufeff"))) {
				t.Fatalf("%q became the fact %q", lines[line-1], fact)
			}
			return nil
		}, func(b triples.BadLine) error {
			next(b.Line)
			if b.Reason == "" || b.Remedy.String() == "" {
				t.Fatalf("%+v", b)
			}
			return nil
		})
		if !plain || err != nil {
			return
		}
		for _, line := range lines[last:] {
			if strings.Trim(line, "\r") != "" {
				t.Fatalf("after line %d of %q nothing was read", last, text)
			}
		}
	})
}

// TestFlattenOfManyKeys reads more keys than a line can have, for which a search among them all for each would take
// many minutes, and objects in objects whose keys together have names that no memory holds.
func TestFlattenOfManyKeys(t *testing.T) {
	text := []byte("{")
	const many = 1 << 20
	for i := range many {
		text = fmt.Appendf(text, `"%d":1,`, i)
	}
	text = append(text, `"deep":`+strings.Repeat(`{"x": `, 1000)+`[{}]`+strings.Repeat("}", 1000)+"}"...)
	keys, values, err := flatten(text)
	if err != nil || len(keys) != many+1 || keys[many] != "deep"+strings.Repeat(".x", 1000) || string(values[many]) != "[{}]" {
		t.Errorf("%d keys, error %v", len(keys), err)
	}
	for _, text := range []string{
		strings.Repeat(`{"a":0,"`+strings.Repeat("x", 90)+`":`, 9000) + "1" + strings.Repeat("}", 9000),
		`{"` + strings.Repeat("x", 1<<19) + `":{"a":1` + strings.Repeat(`,"b":1`, 1<<16) + "}}",
	} {
		if _, _, err := flatten([]byte(text)); err == nil || !strings.Contains(err.Error(), "the names of the keys") {
			t.Errorf("%d bytes: error %.100v", len(text), err)
		}
	}
}

// TestLabels also has two ids of one label, which keep different names.
func TestLabels(t *testing.T) {
	l, err := ReadLabels(t.Context(), put(t, "labels.tsv", "Q1\tBerlin\tthe city\nQ2\tBerlin\nQ3\tParis\nQ5\tQ4\n"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"Q1": "Berlin (Q1)", "Q2": "Berlin (Q2)", "Q3": "Paris", "Q5": "Q4", "Q4": "Q4 (Q4)", "Q9": "Q9"} {
		if name, found := l.Name(id); name != want || !found {
			t.Errorf("%s is %q, want %q", id, name, want)
		}
	}
	if l.Missing != 2 {
		t.Errorf("%d ids without a label, want 2", l.Missing)
	}
	for text, want := range map[string]string{
		"Q1\n":                                 ":1: 1 field instead of 2",
		"Q1\tBerlin\nQ1\tParis\n":              `:2: "Q1" has another label in line 1`,
		"1\tA (2)\n2\tA\n3\tA\n":               `the name "A (2)" is also that of another id`,
		"Q1\t\n":                               ":1: field 2 is empty",
		"Q1\tBerlin\nQ1\tBerlin\n\x00\tb\n":    ":3: NUL at byte 1",
		"Q1," + strings.Repeat("x,", 1) + "\n": "",
	} {
		if _, err := ReadLabels(t.Context(), put(t, "bad.tsv", text)); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadLabels(t.Context(), put(t, "empty.csv", "")); err == nil || !strings.HasSuffix(err.Error(), "it needs lines of two fields") {
		t.Errorf("an empty CSV: %v", err)
	}
}

// TestNamesOfIDsWithoutLabel checks that an id without a label never gets the name of another id, also where another
// one is renamed to its text.
func TestNamesOfIDsWithoutLabel(t *testing.T) {
	for labels, names := range map[string]map[string]string{
		"Q1\tX\n": {"X": "X (X)", "X (X)": "X (X) (X)", "X (X) (X)": "X (X) (X) (X)", "X (X) ": "X (X) ", "X (Y)": "X (Y)", "Y (Y)": "Y (Y)",
			" (": " ("},
		"Q1\tX\nQ2\tX (X)\n":        {"X": "X (X) (X)", "X (X)": "X (X) (X) (X)", "X (X) (X)": "X (X) (X) (X) (X)"},
		"Q1\tX\nX (X)\tY\n":         {"X": "X (X)", "X (X)": "Y", "X (X) (X)": "X (X) (X) (X)", "Y": "Y (Y)"},
		"Q1\tX (X)\n":               {"X": "X", "X (X)": "X (X) (X (X))", "X (X) (X (X))": "X (X) (X (X)) (X (X))"},
		"Q1\tX\nX\tX (X)\n":         {"X": "X (X)", "X (X)": "X (X) (X (X))"},
		"Q1\tA\nQ2\tA\nQ3\tQ1 (Q1)": {"Q1": "A (Q1)", "A (Q1)": "A (Q1) (A (Q1))", "A": "A"},
	} {
		l, err := ReadLabels(t.Context(), put(t, "labels.tsv", labels))
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range names {
			if name, _ := l.Name(id); name != want {
				t.Errorf("with the labels %q %q is %q, want %q", labels, id, name, want)
			}
		}
	}
}

func TestNameIDs(t *testing.T) {
	l, err := ReadNameIDs(t.Context(), put(t, "entity2id.txt", "5\n/m/01\t0\nNew York\t1\nParis 2\nRome\t3\nRome\t4\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, bad, _, err := read(t, put(t, "train2id.txt", "3\n0 1 0\n2 7 0\n3 4 0\n"), Options{Format: OpenKE, Entities: l})
	if diff := cmp.Diff([]string{"2: /m/01|0|New York", "4: Rome (3)|0|Rome (4)"}, got); diff != "" || err != nil || len(bad) != 1 ||
		!strings.Contains(bad[0], `:3: entity "7" is not in mem://`) {
		t.Errorf("bad lines %q, error %v, facts (-want +got):\n%s", bad, err, diff)
	}
	for text, want := range map[string]string{
		"1\na\n": ":2: no id follows the name", "2\na 0\nb 0\n": ":3: id 0 is a duplicate",
		"3\na 0\na 1\na (1) 2\n": `the name "a (1)" is also that of another id`, "1\na x\n": `"x" is no id`, "2\na 0\n": "announces 2 lines, but there are 1",
	} {
		if _, err := ReadNameIDs(t.Context(), put(t, "bad.txt", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzRead checks for any bytes in any format that Read does not panic, and that its facts are such that a line of
// tab-separated text can hold them.
func FuzzRead(f *testing.F) {
	for i := range Formats {
		for _, text := range []string{"a,r,b\n\"c\"\"d\",r,e\n", "a\tr\tb\n", "<http://a/b> <http://a/r> _:c .\n",
			"@prefix a: <http://a/> . a:b a:r [a:c (a:d 'x'@en)] .", "2\n0 1 2\n", "PAR1", "\xff\xfe"} {
			f.Add([]byte(text), i)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, format int) {
		url := put(t, "file", string(data))
		o := Options{Format: Formats[uint(format)%uint(len(Formats))], Prefixes: &rdf.Prefixes{}}
		if err := Prefixes(t.Context(), url, o.Format, o.Prefixes); err != nil {
			return
		}
		var text bytes.Buffer
		var want []Fact
		Read(t.Context(), url, o, func(_ int, f Fact) error {
			want = append(want, f)
			fmt.Fprintf(&text, "%s\t%s\t%s\n", f.Head, f.Relation, f.Tail)
			return nil
		}, func(b triples.BadLine) error {
			if b.Line < 1 || b.Reason == "" || b.Remedy.String() == "" {
				t.Fatalf("bad line %+v", b)
			}
			return nil
		})
		if len(want) == 0 {
			return
		}
		i := 0
		err := triples.Read("again", strings.NewReader("x\tr\ty\n"+text.String()), func(line int, f triples.Triple) error {
			if line == 1 {
				return nil
			}
			if got := (Fact{string(f.Head), string(f.Relation), string(f.Tail)}); got != want[i] {
				t.Fatalf("fact %d is %+v as text, want %+v", i, got, want[i])
			}
			i++
			return nil
		}, func(b triples.BadLine) error { return b })
		if err != nil || i != len(want) {
			t.Fatalf("%d of %d facts as text: %v", i, len(want), err)
		}
	})
}

// FuzzPairs checks for any pairs, such as the types of entities, that what is read are names, one pair a line, and
// of plain TSV the line itself.
func FuzzPairs(f *testing.F) {
	for _, text := range []string{"", "a\tb\n", "a,b\r\n\"c\n\",\"d\"\"\"\n", "a;b\nc;d", "\ufeffa\tb\tc\n\nd\n", "a\t\n\tb\n\x00\tb", "\xff\xfe", "\x1f\x8b",
		"\xbd"} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, isCSV bool) {
		name := "f.tsv"
		if isCSV {
			name = "f.csv"
		}
		written, last, rows := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n"), 0, 0
		next := func(line int) {
			if line <= last || line > len(written) && !triples.Packed(text) {
				t.Fatalf("line %d comes after line %d", line, last)
			}
			last = line
		}
		columns, err := TypesOf.Read(t.Context(), put(t, name, string(text)), func(line int, first, second string) error {
			next(line)
			rows++
			for _, name := range []string{first, second} {
				if reason, _ := triples.CheckName("name", name); reason != "" {
					t.Fatalf("line %d has %q: %s", line, name, reason)
				}
			}
			for _, name := range []string{first, second} {
				if !isCSV && !triples.Packed(text) && !strings.Contains(written[line-1], name) && !strings.Contains(written[line-1], `"`) {
					t.Fatalf("line %d %q is read as %q, %q", line, written[line-1], first, second)
				}
			}
			return nil
		}, func(b triples.BadLine) error {
			next(b.Line)
			if b.Reason == "" || b.Remedy.String() == "" || strings.ContainsAny(b.Error(), "\n\x1b") {
				t.Fatalf("bad line %+v", b)
			}
			return nil
		})
		if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Fatalf("the error is %q", err)
		}
		if columns.at[0] == columns.at[1] && rows > 0 {
			t.Fatalf("one column is read twice: %+v", columns)
		}
	})
}

// FuzzLabels checks for any file of labels that ids have names of their own: those with a label, and those without one
// whose text is another id's label, or what such an id is renamed to.
func FuzzLabels(f *testing.F) {
	for _, text := range []string{"Q1\tBerlin\nQ2\tParis\n", "1\tX\n2\tX\n", "1\tA (2)\n2\tA\n3\tA\n", "1\tB\n2\tB (B)\n", "1\tB\nB (B)\tB (B) (B)\n",
		"1\tB\n2\tB (B) (B)\n", "3\na b 0\nb\tb\t1\nc 2\n", "1\n a\t0"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, openKE bool) {
		read := ReadLabels
		if openKE {
			read = ReadNameIDs
		}
		l, err := read(t.Context(), put(t, "labels.tsv", text))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("the error is %q", err)
			}
			return
		}
		ids, of := map[string]bool{}, map[string]string{}
		for id, name := range l.names {
			ids[id], ids[name] = true, true
			for first := range strings.SplitSeq(name, " (") {
				for times := range 4 {
					ids[first+strings.Repeat(" ("+first+")", times)] = true
					ids[name+strings.Repeat(" ("+name+")", times)] = true
				}
			}
		}
		delete(ids, "")
		for id := range ids {
			name, found := l.Name(id)
			if other, twice := of[name]; found && (twice || name == "" || !utf8.ValidString(name)) {
				t.Fatalf("ids %q and %q have the name %q", id, other, name)
			}
			if found != (l.Has(id) || !openKE) {
				t.Fatalf("id %q has the name %q: %v", id, name, found)
			}
			if found {
				of[name] = id
			}
		}
	})
}
