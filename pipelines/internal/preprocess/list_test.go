package preprocess

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestListedFiles compares the graph of facts in several files, in any order, with the graph of the one
// file that has them all.
func TestListedFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	lines := make([]string, 90)
	for i := range lines {
		lines[i] = fmt.Sprintf("e%d\tr%d\te%d", random.IntN(20), i%5, random.IntN(20))
	}
	csv := func(lines []string) string { return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\t", ",") }
	tsv := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	for name, c := range map[string]struct {
		files map[string]string
		flags []string
	}{
		"tsv":      {files: map[string]string{"1.tsv": tsv(lines[40:]), "2.tsv": tsv(lines[:40])}},
		"repeated": {files: map[string]string{"1.tsv": tsv(lines[:60]), "2.tsv": tsv(lines[30:])}},
		"mixed":    {files: map[string]string{"1.tsv": tsv(lines[:10]), "2.csv": csv(lines[10:50]), "3.txt": tsv(lines[50:])}},
		"split": {files: map[string]string{"1.tsv": tsv(lines[:10]), "2.csv": csv(lines[10:50]), "3.txt": tsv(lines[50:])},
			flags: []string{"--split", "60,20,20"}},
		"inductive":  {files: map[string]string{"1.tsv": tsv(lines[40:]), "2.csv": csv(lines[:40])}, flags: []string{"--inference", "LIST"}},
		"with types": {files: map[string]string{"1.tsv": tsv(lines[:60]), "2.csv": csv(lines[60:])}, flags: []string{"--type_relation", "r1"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := pipelinetest.Dataset(t, c.files)
			var list []string
			for file := range c.files {
				list = append(list, filepath.Join(folder, file))
			}
			one := filepath.Join(pipelinetest.Dataset(t, map[string]string{"all.tsv": tsv(lines)}), "all.tsv")
			tables := func(dataset string) map[string]string {
				w, flags := t.TempDir(), slices.Clone(c.flags)
				if i := slices.Index(flags, "LIST"); i >= 0 {
					flags[i] = dataset
				}
				pipelinetest.Succeed(t, Pipeline(), append(flags, "--workspace", w, "--dataset", dataset)...)
				return factTables(t, w)
			}
			pipelinetest.Same(t, tables(strings.Join(list, ",")), tables(one))
		})
	}
}

// TestListedNames covers what the names of a list are, and the errors of those that are none.
func TestListedNames(t *testing.T) {
	folder := pipelinetest.Dataset(t, map[string]string{
		"a.tsv": "a\tr\tb\nb\tr\tc\n", "b.tsv": "c\tr\ta\nd\tr\n", "b.csv": "c,r,a\nd,r\n", "c.tsv": "c\tr\td\n", "a.tsv,c.tsv": "x\tr\ty\ny\tr\tz\n",
		"splits/train.txt": "a\tr\tb\n",
	})
	path := func(names ...string) string {
		for i, name := range names {
			names[i] = filepath.Join(folder, name)
		}
		return strings.Join(names, ",")
	}
	for _, c := range []struct {
		dataset string
		code    int
		says    string
	}{
		{path("a.tsv", "b.tsv"), command.ExitFailure, path("b.tsv") + ":2: "},
		{path("a.tsv", "b.csv"), command.ExitFailure, path("b.csv") + ":2: "},
		{path("a.tsv", "c.tsv", "a.tsv"), command.ExitUsage, `--dataset names "` + path("a.tsv") + `" twice`},
		{path("a.tsv", "d.tsv"), command.ExitUsage, `--dataset: no file "` + path("d.tsv") + `", of the list ` + path("a.tsv", "d.tsv")},
		{path("a.tsv") + ",", command.ExitUsage, `--dataset: no file ""`},
		{path("a.tsv", "splits"), command.ExitFailure, path("splits") + " is a folder, and several names are those of files of facts"},
	} {
		w := t.TempDir()
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: c.code, Begin: c.says}, "--workspace", w, "--dataset", c.dataset)
		if left := pipelinetest.Files(t, w); len(left) > 0 {
			t.Errorf("%s leaves %d files", c.dataset, len(left))
		}
	}
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", t.TempDir(), "--dataset", path("a.tsv,c.tsv"))
	if !strings.Contains(out, "a.tsv,c.tsv ") || !strings.Contains(out, "entities                               3\n") {
		t.Errorf("a name with a comma: %s", out)
	}
	w := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", path("a.tsv", "c.tsv"))
	if again := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", path("a.tsv", "c.tsv")); !strings.Contains(again,
		"is complete with the same data") {
		t.Errorf("a second run: %s", again)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"--dataset is a.tsv, c.tsv there, a.tsv here"}},
		"--workspace", w, "--dataset", path("a.tsv"))
}

// TestListedHeaders has files of a list with and without names of columns, of each of which its own first line decides.
func TestListedHeaders(t *testing.T) {
	folder := pipelinetest.Dataset(t, map[string]string{
		"a.tsv": "a\tr\tb\nb\tr\tc\nc\tr\td\n", "usual.csv": "Tail,Relation,Head\nb,r,d\nd,r,e\n", "usual.tsv": "head\trelation\ttail\nd\tr\tb\ne\tr\td\n",
		"one.csv": "d,r,a\n", "u.csv": "city1,link,city2\na,r,c\nb,r,d\n", "u.tsv": "town1\troad\ttown2\nc\tr\ta\n", "swapped.csv": "d,r,b\ne,r,d\n",
	})
	list := func(names ...string) string {
		for i, name := range names {
			names[i] = filepath.Join(folder, name)
		}
		return strings.Join(names, ",")
	}
	for _, c := range []struct {
		dataset, says string
		flags         []string
	}{
		{list("a.tsv", "usual.csv"), "left out: 1 first line with the names of columns\n", nil},
		{list("usual.tsv", "a.tsv"), "left out: 1 first line with the names of columns\n", nil},
		{list("usual.tsv", "usual.csv"), " 2 first lines with the names of columns\n", nil},
		{list("a.tsv", "one.csv"), "left out: nothing\n", nil},
		{list("a.tsv", "u.csv"), "left out: 2 first lines with the names of columns\n", []string{"--header", "yes"}},
		{list("a.tsv", "u.csv"), "left out: nothing\n", []string{"--header", "no"}},
	} {
		w := t.TempDir()
		out := pipelinetest.Succeed(t, Pipeline(), append(c.flags, "--workspace", w, "--dataset", c.dataset)...)
		if !strings.Contains(out, c.says) {
			t.Errorf("%s %q: %s", c.dataset, c.flags, out)
		}
	}
	for _, c := range [][]string{{list("a.tsv", "u.csv"), "u.csv"}, {list("u.csv", "u.tsv"), "u.csv"}, {list("a.tsv", "u.tsv", "u.csv"), "u.tsv"}} {
		says := filepath.Join(folder, c[1]) + ":1: the line looks like a header"
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: says,
			Says: []string{"where only some files have one, remove it there"}}, "--workspace", t.TempDir(), "--dataset", c[0])
	}
	w, want := t.TempDir(), t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", list("a.tsv", "usual.csv"))
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"--header"}}, "--workspace", w,
		"--dataset", list("a.tsv", "usual.csv"), "--header", "no")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", want, "--dataset", list("a.tsv", "swapped.csv"))
	pipelinetest.Same(t, factTables(t, w), factTables(t, want))
}

// TestLongList names more files than the name of one file has room for.
func TestLongList(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("facts-%04d.tsv", i)] = fmt.Sprintf("a\tr\tb%d\n", i)
	}
	t.Chdir(pipelinetest.Dataset(t, files))
	list := strings.Join(slices.Sorted(maps.Keys(files)), ",")
	for _, flag := range []string{"dataset", "inference"} {
		names, err := listed(t.Context(), flag, list)
		if err != nil || len(names) != len(files) {
			t.Errorf("--%s: %d names, %v", flag, len(names), err)
		}
	}
}

// TestListedTables reads folders that are tables in parts, with a file, as one table.
func TestListedTables(t *testing.T) {
	facts := nations()["train"]
	parts := func(facts [][3]string) string {
		return table(t, map[string][][3]string{"data_0.parquet": facts[:10], "data_1.parquet": facts[10:]})
	}
	file := filepath.Join(table(t, map[string][][3]string{"rest.parquet": facts[40:]}), "rest.parquet")
	w, want := t.TempDir(), t.TempDir()
	columns := []string{"--columns", "source,relation,answer"}
	pipelinetest.Succeed(t, Pipeline(), append(columns, "--workspace", w, "--dataset", parts(facts[:20])+","+file+","+parts(facts[20:40]))...)
	pipelinetest.Succeed(t, Pipeline(), append(columns, "--workspace", want, "--dataset", parts(facts))...)
	pipelinetest.Same(t, factTables(t, w), factTables(t, want))
}
