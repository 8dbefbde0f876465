package score

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"tagnet/formats/metrics"
	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/evaluate"
	"tagnet/stages/explain"
)

// TestExplain explains the answers to a user's queries, and compares them with those of the library.
func TestExplain(t *testing.T) {
	w := trained(t, "plain")
	queries := file(t, "queries.tsv", "e050\tskip\ne003\t~next\n")
	arguments := []string{"--workspace", w, "--queries", queries, "--top_k", "4", "--explain"}
	out := pipelinetest.Succeed(t, Pipeline(), arguments...)
	folder := filepath.Join(w, "runs/main/evaluation/queries")
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var rows []parquet.Explanation
	read := func(part []parquet.Explanation) error {
		rows = append(rows, part...)
		return nil
	}
	if err := parquet.EachPart(t.Context(), filepath.Join(folder, explain.Table), read); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(pipelinetest.Read(t, folder, explain.Text)), "\n")
	if len(lines) != 1+len(rows) || lines[0]+"\n" != explain.Heading {
		t.Errorf("%s has %d lines for %d rows, the first is %q", explain.Text, len(lines), len(rows), lines[0])
	}
	last := parquet.Explanation{}
	var paths []model.Path
	for i, r := range rows {
		if r.Path == 1 {
			query := model.Query{Source: r.Source, Relation: r.Relation, Inverse: r.Direction == metrics.Head}
			if paths, err = m.Explain(t.Context(), query, r.Entity, pathsKept); err != nil {
				t.Fatal(err)
			}
		} else if r.Path != last.Path+1 || r.Entity != last.Entity {
			t.Errorf("row %d has path %d to %s after path %d to %s", i, r.Path, r.Entity, last.Path, last.Entity)
		}
		last = r
		want := paths[r.Path-1]
		steps, err := json.Marshal(want.Steps)
		if err != nil {
			t.Fatal(err)
		}
		if r.Weight != want.Weight || r.Text != want.Text() || r.Steps != string(steps) {
			t.Errorf("path %d to %s is %g %s %s, the library has %v", r.Path, r.Entity, r.Weight, r.Text, r.Steps, want)
		}
		relation := r.Relation
		if r.Direction == metrics.Head {
			relation = "~" + relation
		}
		line := strings.Join([]string{fmt.Sprint(r.Query), r.Source, relation, r.Entity, fmt.Sprint(r.Path), fmt.Sprintf("%.6g", r.Weight), r.Text}, "\t")
		if lines[1+i] != line {
			t.Errorf("line %d is %q, want %q", i+2, lines[1+i], line)
		}
		if shown := strings.Contains(out, want.String()+"\n"); shown != (r.Path <= pathsShown) {
			t.Errorf("path %d to %s is printed: %v", r.Path, r.Entity, shown)
		}
	}
	if len(rows) < 20 {
		t.Errorf("only %d paths", len(rows))
	}
	if strings.Count(out, "no probability") != 1 {
		t.Errorf("what a weight is should be printed once:\n%s", out)
	}
	if again := pipelinetest.Succeed(t, Pipeline(), arguments...); again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
		t.Errorf("a second run prints\n%s", again)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(arguments, "--paths", "1")...); strings.Count(out, "->") < 4 || strings.Contains(out, rows[1].Text) {
		t.Errorf("with one path:\n%s", out)
	}
	pipelinetest.Succeed(t, Pipeline(), arguments[:len(arguments)-1]...)
	if there, err := storage.Exists(t.Context(), filepath.Join(folder, explain.Text)); err != nil || there {
		t.Errorf("explanations stay beside answers without --explain (%v)", err)
	}
}

// TestExplainWalks explains by all walks, which are other answers to why: they replace no simple paths that are kept.
func TestExplainWalks(t *testing.T) {
	w := trained(t, "plain")
	arguments := []string{"--workspace", w, "--queries", file(t, "queries.tsv", "e050\tskip\n"), "--top_k", "60", "--explain", "--output", "walked"}
	folder := filepath.Join(w, "runs/main/evaluation/walked")
	returning := func() (count int) {
		for _, line := range strings.Split(strings.TrimSpace(pipelinetest.Read(t, folder, explain.Text)), "\n")[1:] {
			visited := map[string]bool{}
			for _, step := range strings.Split(strings.Split(line, "\t")[6], "-> ") {
				name, _, _ := strings.Cut(step, " ")
				if visited[name] {
					count++
					break
				}
				visited[name] = true
			}
		}
		return count
	}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	if n := returning(); n > 0 {
		t.Errorf("%d paths visit an entity twice", n)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "--walks")...); code == 0 || !strings.Contains(stderr, "simple") {
		t.Errorf("walks in place of simple paths: exit code %d, %s", code, stderr)
	}
	pipelinetest.Succeed(t, Pipeline(), append(arguments, "--walks", "--force")...)
	if n := returning(); n == 0 {
		t.Errorf("no walk visits an entity twice:\n%s", pipelinetest.Read(t, folder, explain.Text))
	}
}

// TestExplainRelation explains the answers to a relation's queries.
func TestExplainRelation(t *testing.T) {
	w := trained(t, "plain")
	sources := file(t, "sources.txt", "e010\ne020\ne030\n")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "skip,~next", "--sources", sources, "--top_k", "2", "--explain", "--output", "why")
	folder := filepath.Join(w, "runs/main/evaluation/why")
	type answer struct {
		query  int64
		entity string
	}
	explained := map[answer]bool{}
	err := parquet.EachPart(t.Context(), filepath.Join(folder, explain.Table), func(rows []parquet.Explanation) error {
		for _, r := range rows {
			explained[answer{r.Query, r.Entity}] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	err = parquet.EachPart(t.Context(), filepath.Join(folder, evaluate.PredictionsTable), func(rows []parquet.Prediction) error {
		for _, p := range rows {
			count++
			if reached := p.Hops > 0; reached != explained[answer{p.Query, p.Entity}] {
				t.Errorf("%s, %d hops away, as the answer of query %d is explained: %v", p.Entity, p.Hops, p.Query, !reached)
			}
		}
		return nil
	})
	if err != nil || count < 12 {
		t.Errorf("%d predictions, %v", count, err)
	}
}

// TestExplanationsInSlices checks that the cut into slices changes no line.
func TestExplanationsInSlices(t *testing.T) {
	w := trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", file(t, "queries.tsv", "e050\tskip\ne003\t~next\ne009\tback\n"), "--explain", "--top_k", "5")
	t.Setenv("TMPDIR", t.TempDir()) // Beam leaves a file behind in each run
	folder := filepath.Join(w, "runs/main/evaluation/queries")
	want := pipelinetest.Read(t, folder, explain.Text)
	for _, slices := range []int{4, 40} {
		pipelinetest.Remove(t, folder, explain.Table)
		err := ptest.Run(BuildExplanations(explain.Params{
			Graph: filepath.Join(w, "graph"), Split: "test", Checkpoints: filepath.Join(w, "runs/main/checkpoints"), Checkpoint: "best",
			Folder: folder, Paths: pathsKept, Slices: slices, Threads: 3,
		}))
		if err != nil {
			t.Fatal(err)
		}
		if parts, err := parquet.TableFiles(t.Context(), filepath.Join(folder, explain.Table)); err != nil || len(parts) != slices {
			t.Errorf("%d parts, %v", len(parts), err)
		}
		pipelinetest.SameText(t, fmt.Sprintf("explanations in %d slices", slices), pipelinetest.Read(t, folder, explain.Text), want)
	}
}

func TestExplanationGraph(t *testing.T) {
	command.InitBeam()
	p := BuildExplanations(explain.Params{Graph: "mem://graph", Split: "test", Checkpoint: "epoch-001", Folder: "mem://answers", Paths: 10, Slices: 1})
	pipelinetest.Golden(t, "explanations", pipelinetest.Graph(t, p))
}

func TestExplainMistakes(t *testing.T) {
	w := trained(t, "plain")
	queries := file(t, "queries.tsv", "e050\tskip\n")
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--explain"}, "--explain needs --queries"},
		{[]string{"--queries", queries, "--walks"}, "--walks needs --explain"},
		{[]string{"--queries", queries, "--explain", "--paths", "0"}, "--paths is 0: want 1 to 1000"},
		{[]string{"--queries", queries, "--explain", "--paths", "1001"}, "--paths is 1001"},
		{[]string{"--queries", queries, "--explain", "--threads", "1", "--memory", "189"}, "--memory 189 is too small: explaining on this graph with 1 thread takes at least"},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), append([]string{"--workspace", w}, c.flags...)...)
		if code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %s", c.flags, code, stderr)
		}
	}
	pipelinetest.Plan(t, Pipeline(), w, "step       explain.explain: 10 answers", "--queries", queries, "--explain")
}

// TestExplainEscapes explains on a graph with names that a terminal would obey.
func TestHostileNamesInExplanations(t *testing.T) {
	t.Parallel()
	row := parquet.Explanation{Direction: "tail", Source: "a\x1b[31m", Relation: "r\tx", Entity: "b", Path: 1, Weight: 0.5, Text: "a\x1b[31m -r\tx-> b"}
	line := strings.TrimSuffix(string(explain.Lines([]parquet.Explanation{row})), "\n")
	fields := strings.Split(line, "\t")
	if len(fields) != 7 || names.Escape(line) != strings.ReplaceAll(line, "\t", `\t`) {
		t.Errorf("%d fields: %q", len(fields), line)
	}
}
