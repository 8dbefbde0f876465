package preprocess

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/counts"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/graph"
)

// divideFacts divides the lines of a text at random in two, of which the first has a line of every relation.
func divideFacts(random *rand.Rand, text string) (first, second string) {
	seen := map[string]bool{}
	var halves [2][]string
	for line := range strings.Lines(text) {
		relation := strings.Split(line, "\t")[1]
		half := random.IntN(2)
		if !seen[relation] {
			half = 0
		}
		seen[relation] = true
		halves[half] = append(halves[half], line)
	}
	return strings.Join(halves[0], ""), strings.Join(halves[1], "")
}

// summaryOf reads the summary of a workspace's graph, and takes out what tells how it was made.
func summaryOf(t *testing.T, workspace string) (counts.Dataset, []counts.Appended) {
	t.Helper()
	s, err := counts.ReadDataset(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	appended := s.Appended
	s.Appended, s.Repeated, s.Dataset, s.Inference = nil, nil, "", ""
	return s, appended
}

// tablesOf returns the files of a workspace's graph but those that tell how it was made.
func tablesOf(t *testing.T, workspace string) map[string]string {
	t.Helper()
	files := pipelinetest.Files(t, filepath.Join(workspace, "graph"))
	maps.DeleteFunc(files, func(name, _ string) bool {
		return name == "manifest.json" || name == "summary.json" || name == "rejects.tsv"
	})
	return files
}

// TestAppendedGraphEqualsTheWhole compares the graph of some facts, to which others are appended in two steps, with the graph of all of
// them: it has the same bytes.
func TestAppendedGraphEqualsTheWhole(t *testing.T) {
	chain := pipelinetest.Chain(3, "e", 40)
	other := pipelinetest.Chain(4, "x", 30)
	for name, c := range map[string]struct {
		files, inference map[string]string
		flags            []string
	}{
		"ring":            {files: pipelinetest.Ring("e", 30)},
		"chain":           {files: chain},
		"background":      {files: map[string]string{"train.txt": chain["train.txt"], "valid.txt": chain["valid.txt"], "facts.txt": chain["test.txt"]}},
		"train only":      {files: map[string]string{"train.txt": chain["train.txt"]}},
		"inductive":       {files: chain, inference: other},
		"types":           {files: chain, inference: other, flags: []string{"--type_relation", "r0"}},
		"validated there": {files: chain, inference: other, flags: []string{"--validate_on", "inference"}},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			grows := &c.files
			if c.inference != nil {
				grows = &c.inference
			}
			first, rest := divideFacts(random, (*grows)["train.txt"])
			second, third := divideFacts(random, rest)
			part := maps.Clone(*grows)
			part["train.txt"] = first
			whole, w := t.TempDir(), t.TempDir()
			make := func(w string, grown map[string]string) {
				flags := append([]string{"--workspace", w}, c.flags...)
				if c.inference == nil {
					pipelinetest.Succeed(t, Pipeline(), append(flags, "--dataset", pipelinetest.Dataset(t, grown))...)
				} else {
					pipelinetest.Succeed(t, Pipeline(), append(flags, "--dataset", pipelinetest.Dataset(t, c.files), "--inference", pipelinetest.Dataset(t, grown))...)
				}
			}
			// The facts of valid and test are not appended.
			held := map[string]bool{}
			for _, split := range []string{"valid.txt", "test.txt", "facts.txt"} {
				for line := range strings.Lines((*grows)[split]) {
					held[line] = true
				}
			}
			without := func(text string) (kept string) {
				for line := range strings.Lines(text) {
					if !held[line] {
						kept += line
					}
				}
				return kept
			}
			all := maps.Clone(*grows)
			all["train.txt"] = first + without(rest)
			make(whole, all)
			make(w, part)
			for i, text := range []string{second, third} {
				file := filepath.Join(t.TempDir(), fmt.Sprintf("more%d.tsv", i))
				pipelinetest.Write(t, file, text)
				pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--append", file)
			}
			pipelinetest.Same(t, tablesOf(t, w), tablesOf(t, whole))
			got, appended := summaryOf(t, w)
			want, _ := summaryOf(t, whole)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
			if len(appended) != 2 || appended[0].File != "more0.tsv" || appended[0].New == 0 {
				t.Errorf("appended %+v", appended)
			}
			if left, _ := filepath.Glob(filepath.Join(w, "graph?*")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestAppendCounts appends facts of which some are known, repeated or held out.
func TestAppendCounts(t *testing.T) {
	w := t.TempDir()
	files := map[string]string{
		"train.txt": "anna\tknows\tbert\nbert\tlikes\tcora\n", "valid.txt": "cora\tknows\tanna\n", "test.txt": "cora\tlikes\tanna\n",
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	file := filepath.Join(t.TempDir(), "more.csv")
	pipelinetest.Write(t, file, "anna,knows,bert\ndora,knows,anna\ndora,knows,anna\ncora,likes,anna\ncora,knows,anna\ndora,hates,\"x, y\"\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--append", file)
	for _, want := range []string{
		"6 facts, 2 of them new; left out: 2 in the graph already, or repeated; left out: 2 of validation or test",
		"appended to the training facts; new entities: 2; new relations: hates",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s: want %q", out, want)
		}
	}
	_, appended := summaryOf(t, w)
	if diff := cmp.Diff([]counts.Appended{{File: "more.csv", Facts: 6, New: 2, HeldOut: 2, Entities: 2, Relations: []string{"hates"}}}, appended); diff != "" {
		t.Errorf("appended (-want +got):\n%s", diff)
	}
	before := pipelinetest.Files(t, filepath.Join(w, "graph"))
	for _, flags := range [][]string{nil, {"--force"}} {
		again := pipelinetest.Succeed(t, Pipeline(), append(flags, "--workspace", w, "--append", file)...)
		if !strings.Contains(again, "nothing to do") && !strings.Contains(again, "nothing to append") {
			t.Errorf("a second run: %s", again)
		}
		pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "graph")), before)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"preprocess --append added facts to it"}},
		"--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	var m struct{ Configuration struct{ Appended []any } }
	if err := json.Unmarshal([]byte(before["manifest.json"]), &m); err != nil || len(m.Configuration.Appended) != 1 {
		t.Errorf("manifest %+v, %v", m, err)
	}
}

// TestAppendFormats appends a file of every kind to a graph. Names of IRIs are those that the graph has, whatever the file's prefixes are.
func TestAppendFormats(t *testing.T) {
	tsv := map[string]string{"train.txt": "anna\tknows\tbert\n"}
	turtle := map[string]string{"train.ttl": "@prefix e: <http://e/> .\ne:anna e:knows e:bert .\n"}
	nt := map[string]string{"train.nt": "<http://e/anna> <http://e/knows> <http://e/bert> .\n"}
	for name, c := range map[string]struct {
		files      map[string]string
		file, text string
		flags      []string
		wants      []string // entities
	}{
		"csv by name":       {tsv, "more.csv", "who,what,whom\nanna,knows,cora\n", []string{"--columns", "who,what,whom"}, []string{"anna", "bert", "cora"}},
		"one fact":          {tsv, "more.txt", "cora\tknows\tdora\n", nil, []string{"anna", "bert", "cora", "dora"}},
		"two facts":         {tsv, "more.txt", "cora\tknows\tdora\nemil\tlikes\tfinn\n", nil, []string{"anna", "bert", "cora", "dora", "emil", "finn"}},
		"ids":               {tsv, "more.tsv", "1\t7\t2\n", []string{"--entity_names", "1\tanna\n2\tcora\n", "--relation_names", "7\tknows\n"}, []string{"anna", "bert", "cora"}},
		"turtle to tsv":     {tsv, "more.ttl", "@prefix e: <http://e/> .\ne:anna e:knows e:cora .\n", nil, []string{"anna", "bert", "e:anna", "e:cora"}},
		"turtle":            {turtle, "more.ttl", "@prefix other: <http://e/> .\nother:anna other:knows other:cora, \"Cora\" .\n", nil, []string{"e:anna", "e:bert", "e:cora"}},
		"ntriples":          {turtle, "more.nt", "<http://e/anna> <http://e/knows> <http://e/cora> .\n", nil, []string{"e:anna", "e:bert", "e:cora"}},
		"turtle to triples": {nt, "more.ttl", "@prefix e: <http://e/> .\ne:anna e:knows e:cora .\n", nil, []string{"http://e/anna", "http://e/bert", "http://e/cora"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, folder := t.TempDir(), t.TempDir()
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, c.files))
			flags := []string{"--workspace", w, "--append", filepath.Join(folder, c.file)}
			pipelinetest.Write(t, filepath.Join(folder, c.file), c.text)
			for i, flag := range c.flags {
				if strings.Contains(flag, "\n") {
					flag = filepath.Join(folder, fmt.Sprint(i))
					pipelinetest.Write(t, flag, c.flags[i])
				}
				flags = append(flags, flag)
			}
			pipelinetest.Succeed(t, Pipeline(), flags...)
			l, err := graph.Load(t.Context(), filepath.Join(w, "graph"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.wants, l.Train.Entities); diff != "" {
				t.Errorf("entities (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAppendPacked appends packed text to a graph, and a table of Parquet.
func TestAppendPacked(t *testing.T) {
	w := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, small()))
	for _, file := range []string{"../../../formats/triples/testdata/facts.txt.bz2", "../../../formats/facts/testdata/pandas.parquet"} {
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--append", file)
		if !strings.Contains(out, "of them new") || strings.Contains(out, " 0 of them new") {
			t.Errorf("%s", out)
		}
	}
}

// TestAppendRefuses leaves the workspace as it was.
func TestAppendRefuses(t *testing.T) {
	w, folder := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		pipelinetest.Write(t, filepath.Join(folder, name), text)
		return filepath.Join(folder, name)
	}
	good, bad := write("good.tsv", "anna\tlikes\tdora\n"), write("bad.tsv", "anna\tlikes\tdora\nanna likes bert\n")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{w + "/graph is not complete: run go run ./pipelines/preprocess"}}, "--workspace", w, "--append", good)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, small()))
	before := pipelinetest.Files(t, w)
	for name, c := range map[string]struct {
		flags []string
		want  pipelinetest.Failure
	}{
		"bad line":     {[]string{"--append", bad}, pipelinetest.Failure{Code: command.ExitFailure, Begin: bad + ":2: spaces where tabs belong"}},
		"empty":        {[]string{"--append", write("empty.tsv", "")}, pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"empty.tsv: the file is empty"}}},
		"header":       {[]string{"--append", write("header.tsv", "subject\tpredicate\tobject\nanna\tlikes\tdora\n")}, pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"header.tsv:1: "}}},
		"turtle":       {[]string{"--append", write("bad.ttl", "<a> <b>")}, pipelinetest.Failure{Code: command.ExitFailure, Begin: filepath.Join(folder, "bad.ttl") + ":1"}},
		"no file":      {[]string{"--append", good + "x"}, pipelinetest.Failure{Code: command.ExitFailure, Begin: "--append: reading "}},
		"a folder":     {[]string{"--append", folder}, pipelinetest.Failure{Code: command.ExitFailure, Begin: "--append: "}},
		"a pipe":       {[]string{"--append", pipe(t)}, pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"is a pipe"}}},
		"a dataset":    {[]string{"--append", good, "--dataset", folder}, pipelinetest.Failure{Code: command.ExitUsage, Begin: "--dataset makes a graph, and --append adds facts"}},
		"a split":      {[]string{"--append", good, "--split", "80,10,10"}, pipelinetest.Failure{Code: command.ExitUsage, Begin: "--split makes a graph"}},
		"empty name":   {[]string{"--append", ""}, pipelinetest.Failure{Code: command.ExitUsage, Begin: "--append is \"\""}},
		"small memory": {[]string{"--append", good, "--memory", "200"}, pipelinetest.Failure{Code: command.ExitUsage, Says: []string{"--memory 200 is too small"}}},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Pipeline(), c.want, append(c.flags, "--workspace", w)...)
			pipelinetest.Same(t, pipelinetest.Files(t, w), before)
		})
	}
	t.Run("dry run", func(t *testing.T) { pipelinetest.DryRun(t, Pipeline(), w, "/vocabulary.furtherFn", "--append", good) })
	t.Run("plan", func(t *testing.T) { pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--append", good, "--plan") })
	pipelinetest.Same(t, pipelinetest.Files(t, w), before)
	pipelinetest.TakenOver(t, Pipeline(), w, "graph.new", "--append", good)
}

// TestAppendKeepsRejects keeps the entities and the rejected lines of the earlier graph, which no fact has.
func TestAppendKeepsRejects(t *testing.T) {
	files := small()
	files["valid.txt"] += "nobody\thates\tanna\n"
	folder, w, whole := pipelinetest.Dataset(t, files), t.TempDir(), t.TempDir()
	more := filepath.Join(t.TempDir(), "more.tsv")
	pipelinetest.Write(t, more, "anna\tlikes\tzoe\nbad line\n")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", folder, "--on_bad_line", "reject")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--append", more, "--on_bad_line", "reject")
	want := "file\tline\treason\ttext\n" + filepath.Join(folder, "valid.txt") + "\t" + fmt.Sprint(strings.Count(files["valid.txt"], "\n")) + "\trelation \"hates\" is in no training fact, so nothing can be learned about it\tnobody\\thates\\tanna\n" +
		more + "\t2\tspaces where tabs belong\tbad line\n"
	if got := pipelinetest.Read(t, w, "graph", "rejects.tsv"); got != want {
		t.Errorf("rejects.tsv %q, want %q", got, want)
	}
	files["train.txt"] += "anna\tlikes\tzoe\n"
	pipelinetest.Succeed(t, Pipeline(), "--workspace", whole, "--dataset", pipelinetest.Dataset(t, files), "--on_bad_line", "reject")
	pipelinetest.Same(t, tablesOf(t, w), tablesOf(t, whole))
}
