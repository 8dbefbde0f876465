package preprocess

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

// TestFilesAsPeopleHaveThem has kinds of files of which other tools, and this one once, silently made other facts.
func TestFilesAsPeopleHaveThem(t *testing.T) {
	t.Parallel()
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	frames := func(texts ...string) (file string) {
		for _, text := range texts {
			encoder, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			file += "\x50\x2a\x4d\x18\x04\x00\x00\x00size" + string(encoder.EncodeAll([]byte(text), nil))
		}
		return file
	}
	long := strings.Repeat("x", 3<<20)
	const one, two = "_:b <http://e/in> <http://e/N> .\n", "_:b <http://e/in> <http://e/S> .\n"
	type files map[string]string
	for name, c := range map[string]struct {
		files
		dataset string // names of files, or that of a folder
		facts   string // names of heads, relations and tails
		says    []string
	}{
		"labels of blank nodes": {files{"a.nt": one, "b.nt": two}, "a.nt,b.nt", "_:[a.nt]b http://e/in http://e/N|_:[b.nt]b http://e/in http://e/S",
			[]string{"blank nodes (2 statements) are others in each file"}},
		"labels of one file": {files{"a.nt": one + two}, "a.nt", "_:b http://e/in http://e/N|_:b http://e/in http://e/S", nil},
		"labels in folders": {files{"x/a.ttl": one, "y/a.nq": two, "z/a.ttl": two}, "x/a.ttl,y/a.nq,z/a.ttl",
			"_:[x/a.ttl]b http://e/in http://e/N|_:[y/a.nq]b http://e/in http://e/S|_:[z/a.ttl]b http://e/in http://e/S", nil},
		"labels of splits": {files{"d/train.nt": one + "_:b <http://e/in> _:c .\n", "d/valid.nt": "_:c <http://e/in> _:b .\n", "d/test.nt": two}, "d",
			"_:b http://e/in _:c|_:b http://e/in http://e/N", []string{"such as \"http://e/S\": no path leads there"}},
		"anonymous nodes": {files{"x/a.ttl": "<http://e/A> <http://e/in> [ <http://e/in> <http://e/N> ] .", "y/a.ttl": "<http://e/B> <http://e/in> [] ."},
			"x/a.ttl,y/a.ttl",
			"_:[x/a.ttl.1] http://e/in http://e/N|http://e/A http://e/in _:[x/a.ttl.1]|http://e/B http://e/in _:[y/a.ttl.1]", nil},
		"padded gzip":           {files{"a.tsv.gz": packed("a\tr\tb\n") + packed("c\tr\td\n") + strings.Repeat("\x00", 999)}, "a.tsv.gz", "a r b|c r d", nil},
		"zeros between members": {files{"a.tsv.gz": packed("a\tr\tb\n") + "\x00\x00" + packed("c\tr\td\n")}, "a.tsv.gz", "a r b|c r d", nil},
		"frames of zstd":        {files{"a.tsv.zst": frames("a\tr\tb\n", "c\tr\td\n")}, "a.tsv.zst", "a r b|c r d", nil},
		"skipped frames of CSV": {files{"a.csv.zst": frames("head,relation,tail\n", "a,r,b\n")}, "a.csv.zst", "a r b", nil},
		"a long literal": {files{"a.nt": "<http://e/a> <http://e/r> \"" + long + "\" .\n" + one}, "a.nt", "_:b http://e/in http://e/N",
			[]string{"1 statement whose object is a literal"}},
		"a long column": {files{"a.tsv": "head\trelation\ttail\tnote\na\tr\tb\t" + long + "\n"}, "a.tsv", "a r b",
			[]string{"columns that are not read: note"}},
		"a long field of CSV":  {files{"a.csv": "head,relation,tail,note\na,r,b,\"" + long + "\n\"\nc,r,d,\n"}, "a.csv", "a r b|c r d", nil},
		"a long value of JSON": {files{"a.jsonl": `{"head":"a","relation":"r","tail":"b","note":"` + long + "\"}\n"}, "a.jsonl", "a r b", nil},
		"an empty table":       {files{"a.tsv": "a\tr\tb\n", "b.tsv": ""}, "a.tsv,b.tsv", "a r b", []string{"no facts in b.tsv"}},
		"only a heading": {files{"a.csv": "head,relation,tail\n", "b.csv": "head,relation,tail\na,r,b\n"}, "a.csv,b.csv", "a r b",
			[]string{"no facts in a.csv"}},
		"empty and compressed": {files{"a.tsv.gz": packed(""), "b.nt": one}, "a.tsv.gz,b.nt", "_:[b.nt]b http://e/in http://e/N",
			[]string{"no facts in a.tsv.gz"}},
		"semicolons": {files{"a.csv": "Marsh, Ida;of;Kohl\nRoy;of;Kohl, Ben\n"}, "a.csv", "Marsh, Ida of Kohl|Roy of Kohl, Ben",
			[]string{`a.csv: 3 columns by ";", no heading, 2 facts`}},
		"bars and no ending": {files{"a": "source|relation|target\na, b|r|c;d\n"}, "a", "a, b r c;d",
			[]string{`a: 3 columns by "|", heading in line 1, 1 fact`}},
		"sep": {files{"a.txt": "sep=;\n\nsource;relation;target\na;r;b\n"}, "a.txt", "a r b",
			[]string{`a.txt: 3 columns by ";", heading in line 3, 1 fact`}},
		"an empty line first": {files{"a.tsv": "\r\nhead\trelation\ttail\r\na\tr\tb\r\n"}, "a.tsv", "a r b", []string{"heading in line 2"}},
		"the heading again": {files{"a.csv": "head,relation,tail\na,r,b\nhead,relation,tail\nc,r,d\n"}, "a.csv", "a r b|c r d",
			[]string{"1 repeated line with the names of columns"}},
		"a heading of other names again": {files{"a.csv": "who,does,whom\na,r,b\nwho,does,whom\nc,r,b\n"}, "a.csv", "a r b|c r b|who does whom",
			[]string{"warning: the first line of a.csv stands again in line 3", "--header yes leaves both out"}},
		"the heading of R again": {files{"a.tsv": "\"h\"\t\"r\"\t\"t\"\n\"1\"\t\"a\"\t\"r\"\t\"b\"\n\"h\"\t\"r\"\t\"t\"\n\"1\"\t\"c\"\t\"r\"\t\"d\"\n"},
			"a.tsv", "a r b|c r d",
			[]string{"a.tsv: 4 quoted columns by tabs, heading in line 1, 2 facts", "columns that are not read: column 1\n"}},
		"R": {files{"a.tsv": "\"a b\"\t\"r\"\t\"c\"\n\"d\"\t\"r\"\t\"say \\\"x\\\"\"\n"}, "a.tsv", "a b r c|d r say \"x\"",
			[]string{"3 quoted columns by tabs"}},
		"KGTK": {files{"a.tsv": "id\tnode1\tlabel\tnode2\ne1\tQ1\tP1\tQ2\nq1\te1\tP9\tQ7\n" +
			"e2\tQ1\tP2\t'x'@en\nq2\te2\tP9\tQ8\ne3\tQ2\tP3\t^2020\ne4\tQ2\tP3\t+3\n"}, "a.tsv", "Q1 P1 Q2",
			[]string{"3 statements whose object is a literal", "2 rows of KGTK that qualify other rows"}},
		"verdicts": {files{"a.csv": "a,r,b\nb,r,c\nc,r,d\n", "verdicts.tsv": "head\trelation\ttail\tverdict\ttime\twho\tweight\n" +
			"b\tr\tc\tfalse\t\t\t\nd\tr\ta\tfalse\t\t\t\nd\tr\tb\ttrue\t\t\t\na\tr\tc\ttrue\t\t\t\na\tr\tc\tundo\t\t\t\n"},
			"a.csv,verdicts.tsv", "a r b|c r d|d r b",
			[]string{"2 facts judged false, 1 line of other files that stated them, 1 row without a verdict that counts\n"}},
		"verdicts on plain facts": {files{"a.tsv": "a\tr\tb\nb\tr\tc\n", "b.csv": "head,relation,tail,verdict\nb,r,c,false\nb,r,d,\n"}, "a.tsv,b.csv", "a r b",
			[]string{"1 fact judged false, 1 line of other files that stated them, 1 row without a verdict that counts\n", "no facts in b.csv"}},
		"verdicts without names": {files{"verdicts.tsv": "a\tr\tb\ttrue\nb\tr\tc\tundo\n"}, "verdicts.tsv", "a r b",
			[]string{"left out: 1 row without a verdict that counts\n"}},
		"no KGTK": {files{"a.tsv": "node1\tlabel\tnode2\ne1\tr\t7\n"}, "a.tsv", "e1 r 7", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, w := pipelinetest.Dataset(t, c.files), t.TempDir()
			var paths []string
			for file := range strings.SplitSeq(c.dataset, ",") {
				paths = append(paths, filepath.Join(folder, file))
			}
			out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", strings.Join(paths, ","))
			for _, says := range c.says {
				if !strings.Contains(out, says) {
					t.Errorf("%s does not say %q", out, says)
				}
			}
			l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(trainingFacts(l), "|"); got != c.facts {
				t.Errorf("facts %q, want %q", got, c.facts)
			}
		})
	}
}

// TestHeadingBehindOtherLines has headings of other than the usual names that are not in the first line.
func TestHeadingBehindOtherLines(t *testing.T) {
	t.Parallel()
	const rows = "who;does;whom\na;r;b\nc;r;b\n"
	tabs := strings.ReplaceAll(rows, ";", "\t")
	for name, text := range map[string]string{
		"a.csv": "sep=;\n" + rows, "b.csv": "\ufeff\r\n" + rows, "c.tsv": "# made by x\n" + tabs, "d.txt": "\n" + tabs, "e.csv": "sep=;\n\n" + rows,
	} {
		file, w := filepath.Join(pipelinetest.Dataset(t, map[string]string{name: text}), name), t.TempDir()
		line := 1 + strings.Count(text[:strings.Index(text, "who")], "\n")
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: fmt.Sprintf("%s:%d: the line looks like a header", file, line),
			Says: []string{"--header yes"}}, "--workspace", w, "--dataset", file)
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", file, "--header", "yes")
		if want := fmt.Sprintf("heading in line %d, 2 facts", line); !strings.Contains(out, want) {
			t.Errorf("%s: %s does not say %q", name, out, want)
		}
	}
}

// trainingFacts returns the names of the training facts, in order.
func trainingFacts(g *kg.KG) (facts []string) {
	for tail := range int32(g.Train.Graph.Entities) {
		heads, relations := g.Train.Graph.In(tail)
		for i, head := range heads {
			if int(relations[i]) < len(g.Relations) {
				facts = append(facts, g.Train.Entities[head]+" "+g.Relations[relations[i]]+" "+g.Train.Entities[tail])
			}
		}
	}
	slices.Sort(facts)
	return facts
}
