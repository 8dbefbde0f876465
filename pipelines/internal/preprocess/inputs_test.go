package preprocess

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/rdf"
	"tagnet/formats/input/triples"
	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

// pipe returns the path of a named pipe that nothing writes to.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	return path
}

// factTables returns the files of graph/ that follow from the facts alone.
func factTables(t *testing.T, workspace string) map[string]string {
	t.Helper()
	files := pipelinetest.Files(t, filepath.Join(workspace, "graph"))
	maps.DeleteFunc(files, func(name, _ string) bool { return !strings.HasSuffix(name, ".arrow") })
	return files
}

// nations are facts of three splits, in the manner of the dataset of that name.
func nations() map[string][][3]string {
	facts := map[string][][3]string{}
	for i := range 60 {
		fact := [3]string{fmt.Sprintf("land%d", i*7%12), fmt.Sprintf("rel%d", i%5), fmt.Sprintf("land%d", i*i%12)}
		split := "train"
		if i >= 50 {
			split = []string{"valid", "test"}[i%2]
		}
		facts[split] = append(facts[split], fact)
	}
	return facts
}

// written returns the files of a dataset with a line for each fact.
func written(facts map[string][][3]string, ending, start string, line func(f [3]string) string) map[string]string {
	files := map[string]string{}
	for split, list := range facts {
		text := start
		for _, f := range list {
			text += line(f)
		}
		files[split+ending] = text
	}
	return files
}

// TestFormatsGiveTheSameGraph writes the same facts in every format of text: the tables are the same, and in RDF, where
// each name has the same prefix, all but the names.
func TestFormatsGiveTheSameGraph(t *testing.T) {
	stated := nations()
	plain := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", plain,
		"--dataset", pipelinetest.Dataset(t, written(stated, ".txt", "", func(f [3]string) string { return strings.Join(f[:], "\t") + "\n" })))
	want := factTables(t, plain)
	entities, relations := map[string]int{}, map[string]int{}
	for _, split := range []string{"test", "train", "valid"} {
		for _, f := range stated[split] {
			for _, name := range []string{f[2], f[0]} {
				if _, known := entities[name]; !known {
					entities[name] = len(entities)
				}
			}
			if _, known := relations[f[1]]; !known {
				relations[f[1]] = len(relations)
			}
		}
	}
	openKE := map[string]string{"1-1.txt": "7\n"}
	for split, list := range stated {
		text := fmt.Sprintf("%d\n", len(list))
		for _, f := range list {
			text += fmt.Sprintf("%d %d %d\n", entities[f[0]], entities[f[2]], relations[f[1]])
		}
		openKE[split+"2id.txt"] = text
	}
	ids := func(names map[string]int, line string) string {
		text := ""
		for name, id := range names {
			text += fmt.Sprintf(line, name, id)
		}
		return text
	}
	openKE["entity2id.txt"] = fmt.Sprintf("%d\n", len(entities)) + ids(entities, "%s\t%d\n")
	openKE["relation2id.txt"] = fmt.Sprintf("%d\n", len(relations)) + ids(relations, "%s\t%d\n")
	numbers := written(stated, ".txt", "", func(f [3]string) string {
		return fmt.Sprintf("%d\t%d\t%d\n", entities[f[0]], relations[f[1]], entities[f[2]])
	})
	numbers["entities.dict"], numbers["relations.dict"] = ids(entities, "%[2]d\t%[1]s\n"), ids(relations, "%[2]d\t%[1]s\n")
	names := written(stated, ".txt", "", func(f [3]string) string { return strings.Join(f[:], "\t") + "\n" })
	names["entities.dict"], names["relations.dict"] = numbers["entities.dict"], numbers["relations.dict"]
	cases := map[string]struct {
		files map[string]string
		flags []string
		rdf   bool
		says  string
	}{
		"csv": {written(stated, ".csv", "", func(f [3]string) string { return fmt.Sprintf("%q,%s,\"%s\"\r\n", f[0], f[1], f[2]) }), nil, false,
			"left out: nothing"},
		"csv by name": {written(stated, ".csv", "when,object,subject,verb\n",
			func(f [3]string) string { return fmt.Sprintf("2020,%s,%s,%s\n", f[2], f[0], f[1]) }), []string{"--columns", "subject,verb,object"}, false, ""},
		"tsv by number": {written(stated, ".tsv", "", func(f [3]string) string { return f[2] + "\t1\t" + f[0] + "\t" + f[1] + "\n" }),
			[]string{"--columns", "3,4,1"}, false, ""},
		"tsv and header": {written(stated, ".tsv", "head\trelation\ttail\n", func(f [3]string) string { return strings.Join(f[:], "\t") + "\n" }),
			[]string{"--header", "yes"}, false, ""},
		"forced": {written(stated, ".txt", "", func(f [3]string) string { return f[0] + "," + f[1] + "," + f[2] + "\n" }), []string{"--format", "csv"},
			false, ""},
		"other ending": {written(stated, ".csv", "", func(f [3]string) string { return strings.Join(f[:], "\t") + "\n" }), []string{"--format", "tsv"}, false,
			""},
		"detected": {written(stated, ".txt", "", func(f [3]string) string { return f[0] + "," + f[1] + "," + f[2] + "\n" }), nil, false, ""},
		"ntriples": {written(stated, ".nt", "# facts\n", func(f [3]string) string {
			return fmt.Sprintf("<http://e/%s> <http://e/%s> <http://e/%s> .\n<http://e/%s> <http://e/name> \"x\" .\n", f[0], f[1], f[2], f[0])
		}), nil, true, "left out: 60 statements whose object is a literal"},
		"jsonl": {written(stated, ".jsonl", "", func(f [3]string) string {
			return fmt.Sprintf("{\"subject\": %q, \"predicate\": %q, \"object\": %q}\n", f[0], f[1], f[2])
		}), nil, false, "left out: nothing"},
		"nquads": {written(stated, ".nq", "", func(f [3]string) string {
			return fmt.Sprintf("<http://e/%s> <http://e/%s> <http://e/%s> <http://e/g> .\n", f[0], f[1], f[2])
		}), nil, true, "left out: nothing"},
		"turtle": {written(stated, ".ttl", "@prefix e: <http://e/> .\n",
			func(f [3]string) string { return fmt.Sprintf("e:%s e:%s\n e:%s .\n", f[0], f[1], f[2]) }), nil, true, ""},
		"openke":        {openKE, nil, false, "not read: 1-1.txt"},
		"dict of ids":   {numbers, nil, false, "left out: nothing\n\n"},
		"dict of names": {names, nil, false, "not read: entities.dict, relations.dict"},
	}
	for _, format := range facts.Formats {
		named := func(name string) bool { return strings.HasPrefix(name, string(format)) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(cases)), named) && format != "parquet" { // which is no text
			t.Errorf("no case begins with %s", format)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, folder := t.TempDir(), pipelinetest.Dataset(t, c.files)
			out := pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--workspace", w, "--dataset", folder)...)
			if !strings.Contains(out, c.says) {
				t.Errorf("%s: want %q", out, c.says)
			}
			got, want := factTables(t, w), maps.Clone(want)
			if c.rdf {
				for _, name := range []string{"entities.arrow", "relations.arrow"} {
					delete(got, name)
					delete(want, name)
				}
			}
			pipelinetest.Same(t, got, want)
			if again := pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--workspace", w, "--dataset", folder)...); !strings.Contains(again,
				"is complete with the same data") {
				t.Errorf("a second run: %s", again)
			}
			if left, err := filepath.Glob(filepath.Join(w, "graph", spillFolder)); err != nil || len(left) > 0 {
				t.Errorf("left: %v %v", left, err)
			}
		})
	}
}

// TestConvertedLines checks that every error about a converted file names its line there, whatever finds it, and that
// rejected lines are in order.
func TestConvertedLines(t *testing.T) {
	files := map[string]string{
		"train.csv": "a,r,b\nb,r\nb,s,c\n\"c\",~r,a\n\nc,r,a\n", "valid.csv": "a,r,c\n",
		"test.csv": "b,hates,a\nx,\"r\nb,r,c\na,s,b\n\",y\nb,hates,c\nbad\nb,s,a\n",
	}
	folder, w := pipelinetest.Dataset(t, files), t.TempDir()
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure,
		Begin: folder + "/train.csv:2: 2 fields instead of 3; give every line a head, a relation and a tail"}, "--workspace", w, "--dataset", folder)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", folder, "--on_bad_line", "reject")
	const never = `relation "hates" is in no training fact, so nothing can be learned about it`
	want := strings.NewReplacer("DIR", folder, "|", "\t").Replace("file|line|reason|text\n" +
		"DIR/test.csv|1|" + never + `|b\thates\ta` + "\nDIR/test.csv|2|the relation has a tab, a line break or NUL|" + `x\tr\nb,r,c\na,s,b\n\ty` +
		"\nDIR/test.csv|6|" + never + `|b\thates\tc` + "\nDIR/test.csv|7|1 field instead of 3|bad\n" +
		"DIR/train.csv|2|2 fields instead of 3|b,r\nDIR/train.csv|4|" +
		`relation "~r" begins with ~, which queries use for the inverse of a relation|c\t~r\ta` + "\n")
	if diff := cmp.Diff(want, pipelinetest.Files(t, filepath.Join(w, "graph"))["rejects.tsv"]); diff != "" {
		t.Errorf("rejects.tsv (-want +got):\n%s", diff)
	}
	pipelinetest.Write(t, filepath.Join(folder, "train.csv"), "a,r,b\nb,r,c\nc,r,a\n")
	pipelinetest.Write(t, filepath.Join(folder, "test.csv"), "\n\nb,r,a\nb,hates,a\n")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: folder + `/test.csv:4: relation "hates"`}, "--workspace",
		t.TempDir(), "--dataset", folder)
}

// TestBackground has facts.txt with a fact of its own, one that is also in train.txt, a repeated one, and a relation
// of its own.
func TestBackground(t *testing.T) {
	files := small()
	files["facts.txt"] = "emil\tparent\tdora\nanna\tparent\tbert\nemil\tparent\tdora\nemil\tadmires\tanna\n"
	files["notes.md"] = "mine"
	w := t.TempDir()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	for _, want := range []string{"  facts                                  7\n", "    of them in facts.txt                 2\n",
		"facts.txt: 2 background facts in the graph and among the known answers; no query is about them\n", "left out: 2 repeated facts in facts.txt\n",
		"not read: notes.md\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s: want %q", out, want)
		}
	}
	l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	queries, err := l.Queries(t.Context(), "train")
	if err != nil || len(queries) != 10 || l.Train.Graph.Edges() != 14 || !slices.Equal(l.Relations, []string{"admires", "likes", "parent"}) {
		t.Errorf("%d training queries, %d edges, relations %v, %v", len(queries), l.Train.Graph.Edges(), l.Relations, err)
	}
	emil, parent := int32(4), int32(2)
	for _, read := range []int32{answersOf(t, l.Train.Answers).Of(emil, parent)[0], l.Train.Graph.Answers(emil, parent)[0]} {
		if l.Train.Entities[read] != "dora" {
			t.Errorf("the answer is %s", l.Train.Entities[read])
		}
	}
	s, err := counts.ReadDataset(t.Context(), filepath.Join(w, "graph"))
	if _, queried := s.Queries["facts"]; queried {
		t.Error("background facts are queried")
	}
	if err != nil || s.Background != 2 || s.Repeated["facts"] != 2 || !slices.Equal(s.Unread, []string{"notes.md"}) {
		t.Errorf("%+v, %v", s, err)
	}
	changed := maps.Clone(files)
	changed["facts.txt"] += "anna\tparent\temil\n"
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"another configuration"}}, "--workspace", w,
		"--dataset", pipelinetest.Dataset(t, changed))
}

// TestHeader has first lines that are headers, and some that are not.
func TestHeader(t *testing.T) {
	with := func(header string) map[string]string {
		files := small()
		for name, text := range files {
			files[name] = header + text
		}
		return files
	}
	one := map[string]string{"all.csv": "who,what,whom\n" + strings.Repeat("a,r,b\nb,r,c\nc,r,a\na,r,c\n", 3)}
	for name, c := range map[string]struct {
		files map[string]string
		file  string // where the header is found; empty: nowhere
		says  string
		flags []string
	}{
		"usual names": {with("head\trelation\ttail\n"), "", "left out: 3 first lines with the names of columns\n", nil},
		"in one file": {map[string]string{"train.txt": small()["train.txt"], "valid.txt": "Subject\tpredicate\tobject\n" + small()["valid.txt"],
			"test.txt": small()["test.txt"]}, "", "left out: 1 first line with the names of columns\n", nil},
		"below comments": {with("# one\n# two\nnode1\tlabel\tnode2\n"), "", "left out: 3 first lines with the names of columns, 6 lines of comments\n", nil},
		"comments alone": {with("# one\n"), "", "left out: 3 lines of comments\n", nil},
		"further columns": {map[string]string{"train.csv": "head,relation,tail,since\na,r,b,2020\nb,r,a,1990\n",
			"test.tsv": "a\tr\ta\t1\nb\tr\tb\t-1\na\tr\tb\t1\n"}, "",
			"columns that are not read: since, column 4\n  warning: column 4 has the labels of true and false facts, and 1 line of false ones became facts",
			[]string{"--columns", "1,2,3"}},
		"other names": {with("who\twhat\twhom\r\n"), "train.txt", "its words occur in no other line", nil},
		"in one CSV":  {one, "all.csv", "its words occur in no other line", []string{"--split", "60,20,20"}},
		"other inference": {with("who\twhat\twhom\n"), "train.txt", "its words occur in no other line",
			[]string{"--inference", pipelinetest.Dataset(t, small())}},
		"alone":             {map[string]string{"train.txt": "wer\twie\twen\n" + small()["train.txt"]}, "train.txt", "looks like a header", nil},
		"the same fact":     {with("dora\tparent\tanna\n"), "", "", nil},
		"a repeated word":   {with("who\tlikes\twhom\n"), "", "", nil},
		"a fact by flag":    {with("who\tlikes\twhom\n"), "", "", []string{"--header", "no"}},
		"skipped by a flag": {with("head\trelation\ttail\n"), "", "", []string{"--header", "yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder, w := pipelinetest.Dataset(t, c.files), t.TempDir()
			flags := append(c.flags, "--workspace", w, "--dataset", folder)
			if c.file == "" {
				if out := pipelinetest.Succeed(t, Pipeline(), flags...); !strings.Contains(out, c.says) {
					t.Errorf("%q is missing: %s", c.says, out)
				}
				return
			}
			pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: filepath.Join(folder, c.file) + ":1: the line ",
				Says: []string{c.says, "--header yes skips"}}, flags...)
			if left := pipelinetest.Files(t, w); len(left) > 0 {
				t.Errorf("left: %v", slices.Collect(maps.Keys(left)))
			}
		})
	}
}

func TestSplitFile(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		a, b := i*i%37, i*7%37
		fmt.Fprintf(&text, "e%d,parent,e%d\ne%d,child,e%d\ne%d,knows,e%d\n", a, b, b, a, b, i%31)
	}
	folder := pipelinetest.Dataset(t, map[string]string{"all.csv": text.String(), "README.md": "mine"})
	file, w := filepath.Join(folder, "all.csv"), t.TempDir()
	flags := []string{"--workspace", w, "--split", "80,10,10", "--dataset"}
	out := pipelinetest.Succeed(t, Pipeline(), append(flags, file)...)
	if !strings.Contains(out, "to training, ") ||
		!strings.Contains(out, "near-inverse relations: 2 of 3; facts of such relations about the same two entities are on the same side\n  in training a "+
			"model looks such facts up") || strings.Contains(out, "not read") || strings.Contains(out, "warning") {
		t.Errorf("%s", out)
	}
	if other := pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", file, "--split", "80,15,15"); !strings.Contains(other,
		"--split 80,15,15 adds up to 110: the shares are 72.7%, 13.6% and 13.6%\n") || strings.Contains(out, "adds up") {
		t.Errorf("shares that add up to 110: %s", other)
	}
	want := factTables(t, w)
	if again := pipelinetest.Succeed(t, Pipeline(), append(flags, file)...); !strings.Contains(again, "is complete") ||
		!strings.Contains(again, "near-inverse") {
		t.Errorf("a second run: %s", again)
	}
	if again := pipelinetest.Succeed(t, Pipeline(), append(flags, folder)...); !strings.Contains(again, "is complete") {
		t.Errorf("its folder: %s", again)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"seed"}}, append(flags, file, "--seed", "5")...)
	lines := strings.SplitAfter(text.String(), "\n")
	slices.Sort(lines)
	pipelinetest.Write(t, file, strings.Join(lines, "")+"\n")
	pipelinetest.Succeed(t, Pipeline(), append(flags, file, "--force")...)
	pipelinetest.Same(t, factTables(t, w), want)
	pipelinetest.Write(t, file, text.String()+"e1,rare,e2\n")
	out = pipelinetest.Succeed(t, Pipeline(), append(flags, file, "--force")...)
	if want := `  warning: no test fact has 1 relation: "rare"; the test metrics do not measure it` + "\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// TestMixedFormats has one file of another format, whose words stand in the other files only, and test facts that stand
// in the inference graph.
func TestMixedFormats(t *testing.T) {
	files := small()
	files["facts.csv"] = "emil,likes,dora\nanna,parent,bert\n"
	mixed := pipelinetest.Dataset(t, files)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", mixed)
	header := small()
	for name, text := range header {
		header[name] = "who\twhat\twhom\n" + text
	}
	header["facts.csv"] = "who,what,whom\nanna,likes,bert\n"
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{":1: the line looks like a header"}},
		"--workspace", t.TempDir(), "--dataset", pipelinetest.Dataset(t, header))
	inference := pipelinetest.Dataset(t, map[string]string{"train.txt": "x\tparent\ty\n", "test.txt": "x\tparent\ty\n"})
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", mixed, "--inference", inference)
	if want := "warning: 1 of 1 facts of test (100.0%) also stand in the inference graph,"; !strings.Contains(out, want) {
		t.Errorf("%s: want %q", out, want)
	}
}

// TestSplitWithBackground divides train.txt beside facts.txt, whose facts stay in the graph; a
// facts.txt alone is divided.
func TestSplitWithBackground(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "e%d\tknows\te%d\n", i*i%37, i*7%31)
	}
	w := t.TempDir()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--split", "60,20,20",
		"--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": text.String(), "facts.txt": "old\tknows\te1\nold\tknew\te2\n"}))
	if want := "facts.txt: 2 background facts in the graph"; !strings.Contains(out, want) {
		t.Errorf("%s: want %q", out, want)
	}
	l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
	if err != nil || !slices.Contains(l.Train.Entities, "old") || !slices.Contains(l.Relations, "knew") {
		t.Errorf("entities %v, relations %v, %v", l.Train.Entities, l.Relations, err)
	}
	out = pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--split", "60,20,20",
		"--dataset", pipelinetest.Dataset(t, map[string]string{"facts.txt": text.String()}))
	if strings.Contains(out, "background") {
		t.Errorf("%s", out)
	}
}

// TestGraphAlone preprocesses one list of facts in every way in which a user may name it, and expects the same tables.
func TestGraphAlone(t *testing.T) {
	text := small()["train.txt"]
	table := "subject,verb,object\n" + strings.ReplaceAll(text, "\t", ",")
	folder := pipelinetest.Dataset(t, map[string]string{"mine.tsv": text, "mine.tsv.gz": packed(t, text), "mine.csv": table, "all.txt": text})
	makes := func(flags ...string) (tables map[string]string, s counts.Dataset, out string) {
		t.Helper()
		w := t.TempDir()
		out = pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w}, flags...)...)
		s, err := counts.ReadDataset(t.Context(), filepath.Join(w, "graph"))
		if err != nil {
			t.Fatal(err)
		}
		tables = pipelinetest.Files(t, filepath.Join(w, "graph"))
		delete(tables, "manifest.json")
		delete(tables, counts.SummaryFile) // the dataset's name
		return tables, s, out
	}
	want, s, out := makes("--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": text}))
	if diff := cmp.Diff(map[string]int64{"train": 10, "valid": 0, "test": 0}, s.Queries); diff != "" || s.Facts != 5 {
		t.Errorf("%d facts, queries: %s", s.Facts, diff)
	}
	for _, says := range []string{"no validation and no test facts (valid.txt, test.txt): ", "zero, the foundation model, or",
		"but no model can be measured; preprocess --split 80,10,10", "discover --workspace", "train --workspace"} {
		if !strings.Contains(out, says) {
			t.Errorf("does not say %q: %s", says, out)
		}
	}
	for _, file := range []string{"mine.tsv", "mine.tsv.gz", "mine.csv", "all.txt"} {
		got, _, _ := makes("--dataset", filepath.Join(folder, file), "--columns", "1,2,3",
			"--header", map[bool]string{true: "yes", false: "no"}[file == "mine.csv"])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	// In place, without a conversion.
	if got, _, _ := makes("--dataset", filepath.Join(folder, "mine.tsv")); !cmp.Equal(want, got) {
		t.Errorf("mine.tsv in place: %s", cmp.Diff(want, got))
	}
}

// TestAbsentSplits says what a graph without some of its splits lacks.
func TestAbsentSplits(t *testing.T) {
	train := "a\tr\tb\nb\tr\tc\nc\tr\ta\n"
	for name, c := range map[string]struct {
		dataset, inference map[string]string
		says               string
	}{
		"valid": {map[string]string{"train.txt": train, "test.txt": "a\tr\tc\n"}, nil, "no validation facts (valid.txt): "},
		"test":  {map[string]string{"train.txt": train, "valid.txt": "a\tr\tc\n"}, nil, "no test facts (test.txt): "},
		"inductive": {map[string]string{"train.txt": train, "valid.txt": "a\tr\tc\n"}, map[string]string{"train.txt": "x\tr\ty\n"},
			"no test facts (test.txt): "},
		"OpenKE": {map[string]string{"train2id.txt": "2\n0 1 0\n1 0 0\n", "entity2id.txt": "2\na\t0\nb\t1\n", "relation2id.txt": "1\nr\t0\n"}, nil,
			"no validation and no test facts (valid.txt, test.txt): "},
	} {
		flags := []string{"--workspace", t.TempDir(), "--dataset", pipelinetest.Dataset(t, c.dataset)}
		if c.inference != nil {
			flags = append(flags, "--inference", pipelinetest.Dataset(t, c.inference))
		}
		if out := pipelinetest.Succeed(t, Pipeline(), flags...); !strings.Contains(out, c.says) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// TestChangedWhileConverted changes files between their hashing and their reading.
func TestChangedWhileConverted(t *testing.T) {
	ctx, w := t.Context(), t.TempDir()
	folder := pipelinetest.Dataset(t, map[string]string{"train.csv": "a,r,b\nb,r,a\n", "valid.csv": "a,r,b\n", "test.csv": "a,r,b\n",
		"types.tsv": "a\tletter\n"})
	f := &flags{header: auto, types: filepath.Join(folder, "types.tsv")}
	source, err := f.openDataset(ctx, "mine", []string{folder}, "", nil)
	if err == nil {
		source.types, err = openTypes(ctx, f.types, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := converter{flags: f, folder: "mem://" + t.Name(), source: &source, prefixes: &rdf.Prefixes{}}
	if _, err := c.text(ctx, source.files[0]); err != nil {
		t.Error(err)
	}
	pipelinetest.Write(t, filepath.Join(folder, "train.csv"), "a,r,b\nb,r,c\n")
	if _, err := c.text(ctx, source.files[0]); !errors.Is(err, triples.ErrChanged) {
		t.Errorf("changed facts: %v", err)
	}
	pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", w, "--types", f.types)
	s, err := counts.ReadDataset(ctx, filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, f.types, "a\tword\n")
	if err := f.writeTypes(ctx, filepath.Join(w, "graph"), source, &s); !errors.Is(err, triples.ErrChanged) {
		t.Errorf("changed types: %v", err)
	}
}

// TestOddInputs names what is not a file of facts. None of them may wait for input that does not come.
func TestOddInputs(t *testing.T) {
	folderAsFile := pipelinetest.Dataset(t, small())
	pipelinetest.Remove(t, filepath.Join(folderAsFile, "valid.txt"))
	if err := os.Mkdir(filepath.Join(folderAsFile, "valid.txt"), 0o777); err != nil {
		t.Fatal(err)
	}
	withPipe := pipelinetest.Dataset(t, small())
	pipelinetest.Remove(t, filepath.Join(withPipe, "test.txt"))
	if err := os.Symlink(pipe(t), filepath.Join(withPipe, "test.txt")); err != nil {
		t.Fatal(err)
	}
	twice := small()
	twice["train.csv"] = "a,r,b\n"
	good := pipelinetest.Dataset(t, small())
	for name, c := range map[string]struct {
		want  pipelinetest.Failure
		flags []string
	}{
		"folder as a file": {pipelinetest.Failure{Code: command.ExitFailure, Begin: folderAsFile + "/valid.txt is a folder where a file of facts is needed"},
			[]string{"--dataset", folderAsFile}},
		"pipe": {pipelinetest.Failure{Code: command.ExitFailure,
			Begin: withPipe + "/test.txt is a pipe, and preprocess reads its input several times"}, []string{"--dataset", withPipe}},
		"pipe as dataset": {pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"is a pipe"}},
			[]string{"--dataset", pipe(t), "--split", "80,10,10"}},
		"device": {pipelinetest.Failure{Code: command.ExitFailure, Begin: "/dev/zero is a device"},
			[]string{"--dataset", "/dev/zero", "--split", "80,10,10"}},
		"names from a pipe": {pipelinetest.Failure{Code: command.ExitFailure, Begin: "--entity_names: "},
			[]string{"--dataset", good, "--entity_names", pipe(t)}},
		"two formats": {pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{"train.csv and ", "both exist: remove one, or choose with --format"}}, []string{"--dataset", pipelinetest.Dataset(t, twice)}},
		"two other endings": {pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{"train.nt and ", "both exist, and --format csv fits both: remove one"}},
			[]string{"--format", "csv", "--dataset", pipelinetest.Dataset(t, map[string]string{"train.tsv": "", "train.nt": ""})}},
		"empty folder": {pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{": the folder does not exist or is empty; a dataset is one file of facts, or a folder with train.txt and, to measure models, " +
				"valid.txt and test.txt\n"}}, []string{"--dataset", t.TempDir()}},
		"missing, inductive": {pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"train.txt not found: ", " has test.txt; "}},
			[]string{"--dataset", good, "--inference", pipelinetest.Dataset(t, map[string]string{"test.txt": "a\tr\tb\n"})}},
		"train missing": {pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{"train.txt not found: ", " has all.csv; ", "; give the path of the file of facts, or rename it\n"}},
			[]string{"--dataset", pipelinetest.Dataset(t, map[string]string{"all.csv": "a,r,b\n"})}},
		"split, OpenKE": {pipelinetest.Failure{Code: command.ExitFailure, Begin: "--split divides one file, and ",
			Says: []string{"has test2id.txt already: leave --split out\n"}},
			[]string{"--split", "80,10,10",
				"--dataset", pipelinetest.Dataset(t, map[string]string{"train2id.txt": "1\n0 1 0\n", "test2id.txt": "1\n0 1 0\n"})}},
		"missing": {pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"train.txt not found", "has all.csv, test.txt"}},
			[]string{"--dataset", pipelinetest.Dataset(t, map[string]string{"all.csv": "", "test.txt": "a\tr\tb\n"})}},
		"UTF-16": {pipelinetest.Failure{Code: command.ExitFailure, Says: []string{":1: the file is UTF-16 text; save it as UTF-8"}},
			[]string{"--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": "\xff\xfea\x00", "valid.txt": "a", "test.txt": "a"})}},
		"split in a dataset": {pipelinetest.Failure{Code: command.ExitFailure,
			Begin: "--split divides one file, and " + good + " has valid.txt and test.txt already: leave --split out, or give the file with --dataset " + good +
				"/train.txt, which reads no other file\n"}, []string{"--dataset", good, "--split", "80,10,10"}},
		"bad shares": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--split is "80,20": want`},
			[]string{"--dataset", good, "--split", "80,20"}},
		"share of nothing": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--split is "80,20,0": want`},
			[]string{"--dataset", good, "--split", "80,20,0"}},
		"bad format": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--format is "xml": want one of`},
			[]string{"--dataset", good, "--format", "xml"}},
		"bad header": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--header is "maybe": want`},
			[]string{"--dataset", good, "--header", "maybe"}},
		"two columns": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--columns is "a,b": want`},
			[]string{"--dataset", good, "--columns", "a,b"}},
		"names, no header": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--columns a,b,c are names`},
			[]string{"--dataset", good, "--columns", "a,b,c", "--header", "no"}},
		"no such names": {pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{`train.txt:1: no column is named "x"; give --columns others: there are anna, parent, bert`}},
			[]string{"--dataset", good, "--columns", "x,y,z"}},
		"commas in a header": {pipelinetest.Failure{Code: command.ExitFailure,
			Says: []string{"the header has commas where tabs belong: who,what,whom; say --format csv"}},
			[]string{"--dataset", filepath.Join(pipelinetest.Dataset(t, map[string]string{"facts.tsv": "who,what,whom\na,r,b\n"}), "facts.tsv"),
				"--header", "yes"}},
		"split, inductive": {pipelinetest.Failure{Code: command.ExitUsage, Begin: "--split with --inference"},
			[]string{"--dataset", good, "--inference", good, "--split", "80,10,10"}},
		"format of sample": {pipelinetest.Failure{Code: command.ExitUsage, Begin: `--format is "csv" without a --dataset`}, []string{"--format", "csv"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := t.TempDir()
			done := make(chan struct{})
			go func() {
				defer close(done)
				pipelinetest.Fail(t, Pipeline(), c.want, append(c.flags, "--workspace", w)...)
			}()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("it waits for input")
			}
			if left := pipelinetest.Files(t, w); len(left) > 0 {
				t.Errorf("left: %v", slices.Collect(maps.Keys(left)))
			}
		})
	}
}

// TestNoFacts has training files that can be read, but have no fact.
func TestNoFacts(t *testing.T) {
	for name, text := range map[string]string{
		"train.ttl": "<http://a> <http://r> 'x' .\n", "train.nt": "<http://a> <http://r> \"x\" .\n",
		"train.csv": "\n\n", "train.tsv": "who\twhat\twhom\n",
	} {
		says, flags := "the file is empty; it needs lines of head, relation and tail", []string(nil)
		switch {
		case strings.Contains(text, "http"):
			says = "has no facts: every object is a literal"
		case name == "train.tsv":
			flags = []string{"--header", "yes"}
		}
		folder := pipelinetest.Dataset(t, map[string]string{name: text, "valid.txt": "a,b,c\na,r,c\n", "test.txt": "a,b,c\na,r,c\n"})
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: filepath.Join(folder, name), Says: []string{says}},
			append(flags, "--workspace", t.TempDir(), "--dataset", folder)...)
	}
}

// TestUnlabeledIDs counts the ids of entities and of relations that have no name, and refuses a file of
// names that names none.
func TestUnlabeledIDs(t *testing.T) {
	files := map[string]string{"train.txt": "0\t0\t1\n1\t1\t2\n9\t1\t0\n", "valid.txt": "0\t1\t2\n", "test.txt": "1\t0\t0\n",
		"entities.dict": "0\ta\n1\tb\n2\tc\n", "relations.dict": "0\tr\n"}
	for _, train := range []string{files["train.txt"], "9\t1\t0\n0\t0\t1\n1\t1\t2\n"} { // the first fact is also read alone
		files["train.txt"] = train
		out := pipelinetest.Succeed(t, Pipeline(), "--dataset", pipelinetest.Dataset(t, files), "--workspace", t.TempDir())
		if want := "without a name: ids that stand 4 times in the facts"; !strings.Contains(out, want) {
			t.Errorf("%s: want %q", out, want)
		}
	}
	files["entities.dict"] = "a\t0\nb\t1\nc\t2\n"
	folder := pipelinetest.Dataset(t, files)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: folder + "/entities.dict: none of its ids is in the facts"},
		"--dataset", folder, "--workspace", t.TempDir())
}

// TestNamesForIDs reads label files that --entity_names and --relation_names name.
func TestNamesForIDs(t *testing.T) {
	folder, w := pipelinetest.Dataset(t, small()), t.TempDir()
	labels, relations := filepath.Join(folder, "entity2text.txt"), filepath.Join(folder, "labels.csv")
	pipelinetest.Write(t, labels, "anna\tAnna Ahorn\nbert\tBert\ncora\tBert\n")
	pipelinetest.Write(t, relations, "likes,\"likes, a lot\"\nparent,parent of\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--dataset", folder, "--workspace", w, "--entity_names", labels, "--relation_names", relations)
	if !strings.Contains(out, "without a name: ids that stand 3 times in the facts; they remain as they are") || strings.Contains(out, "not read") {
		t.Errorf("%s", out)
	}
	l, err := encode.Load(t.Context(), filepath.Join(w, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Anna Ahorn", "Bert (bert)", "Bert (cora)", "dora", "emil"}, l.Train.Entities); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"likes, a lot", "parent of"}, l.Relations); diff != "" {
		t.Errorf("relations (-want +got):\n%s", diff)
	}
}
