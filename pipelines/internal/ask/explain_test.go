package ask

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// TestExplain explains the answers to a user's queries, and compares them with those of the library.
func TestExplain(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	queries := scoringtest.File(t, "queries.tsv", "e003\t~next\ne050\tskip\n")
	arguments := []string{"--workspace", w, "--queries", queries, "--top_k", "4", "--known", "--explain"}
	out := pipelinetest.Succeed(t, Pipeline(), arguments...)
	folder := filepath.Join(w, "runs/main/answers/queries")
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	rows := stagetest.Rows[parquet.Explanation](t, filepath.Join(folder, predict.ExplanationsTable))
	lines := strings.Split(strings.TrimSpace(pipelinetest.Read(t, folder, predict.ExplanationsFile)), "\n")
	if len(lines) != 1+len(rows) || lines[0]+"\n" != evaluation.ExplanationsHeading {
		t.Errorf("%s has %d lines for %d rows, the first is %q", predict.ExplanationsFile, len(lines), len(rows), lines[0])
	}
	last := parquet.Explanation{}
	var found model.Explanation
	reasons := 0
	for i, r := range rows {
		if r.Path == 1 {
			query := model.Query{Source: r.Source, Relation: r.Relation, Inverse: r.Direction == metrics.Head}
			if found, err = m.Explain(t.Context(), query, r.Entity, 10); err != nil {
				t.Fatal(err)
			}
		} else if r.Path != last.Path+1 || r.Entity != last.Entity {
			t.Errorf("row %d has path %d to %s after path %d to %s", i, r.Path, r.Entity, last.Path, last.Entity)
		}
		last = r
		want, line, weight := r, "", ""
		var of []model.Step
		if n := int(r.Path) - 1; n < len(found.Reasons) {
			reason := found.Reasons[n]
			want.Rule, want.Support, want.Cases, want.Weight, want.Text = reason.Rule, int64(reason.Support), int64(reason.Cases), nil, reason.Text()
			of, line = reason.Steps, "        "+reason.String()
			reasons++
		} else {
			path := found.Paths[n-len(found.Reasons)]
			want.Rule, want.Support, want.Cases, want.Weight, want.Text = "", 0, 0, &path.Weight, path.Text()
			of, line, weight = path.Steps, path.String(), fmt.Sprintf("%.6g", path.Weight)
		}
		steps, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		want.Steps = string(steps)
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("row %d (-library +table):\n%s", i, diff)
		}
		relation := r.Relation
		if r.Direction == metrics.Head {
			relation = "~" + relation
		}
		text := strings.Join([]string{fmt.Sprint(r.Query), r.Source, relation, r.Entity, fmt.Sprint(r.Path), r.Rule, fmt.Sprint(r.Support),
			fmt.Sprint(r.Cases), weight, r.Text}, "\t")
		if lines[1+i] != text {
			t.Errorf("line %d is %q, want %q", i+2, lines[1+i], text)
		}
		if shown := strings.Contains(out, line+"\n"); shown != (r.Path <= 3) {
			t.Errorf("path %d to %s is printed: %v", r.Path, r.Entity, shown)
		}
	}
	if reasons == 0 || reasons == len(rows) {
		t.Errorf("%d of %d rows are reasons, want some, and paths where there is none", reasons, len(rows))
	}
	storagetest.EveryField(t, rows)
	if len(rows) < 10 {
		t.Errorf("only %d paths", len(rows))
	}
	if strings.Count(out, "no probability") != 1 || strings.Count(out, "So in 8 of 10") != 1 {
		t.Errorf("what the numbers are should be printed once:\n%s", out)
	}
	if again := pipelinetest.Succeed(t, Pipeline(), arguments...); again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
		t.Errorf("a second run prints\n%s", again)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(arguments, "--paths", "1")...); strings.Count(out, "->") < 4 || strings.Contains(out, rows[1].Text) {
		t.Errorf("with one path:\n%s", out)
	}
	pipelinetest.Succeed(t, Pipeline(), arguments[:len(arguments)-1]...)
	if there, err := storage.Exists(t.Context(), filepath.Join(folder, predict.ExplanationsFile)); err != nil || there {
		t.Errorf("explanations stay beside answers without --explain (%v)", err)
	}
}

// TestExplainWalks explains by all walks, which are other answers to why: they replace no simple paths that are kept.
func TestExplainWalks(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	arguments := []string{"--workspace", w, "--queries", scoringtest.File(t, "queries.tsv", "e050\tskip\n"), "--top_k", "60", "--explain", "--output", "walked"}
	folder := filepath.Join(w, "runs/main/answers/walked")
	returning := func() (count int) {
		for _, line := range strings.Split(strings.TrimSpace(pipelinetest.Read(t, folder, predict.ExplanationsFile)), "\n")[1:] {
			visited := map[string]bool{}
			for _, step := range strings.Split(strings.Split(line, "\t")[9], "-> ") {
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
		t.Errorf("no walk visits an entity twice:\n%s", pipelinetest.Read(t, folder, predict.ExplanationsFile))
	}
}

// TestExplainOnDevice ranks on a device and explains on the CPU: the explanations are those of answers
// that the CPU ranks.
func TestExplainOnDevice(t *testing.T) {
	w := scoringtest.Trained(t, "inductive")
	sources := scoringtest.File(t, "few.txt", "o003\no020\n")
	arguments := []string{"--workspace", w, "--relation", "skip", "--sources", sources, "--top_k", "2", "--explain"}
	pipelinetest.Succeed(t, Pipeline(), append(arguments, "--device", "cpu")...)
	folder := filepath.Join(w, "runs/main/answers/relation-skip-few")
	want := pipelinetest.Read(t, folder, predict.ExplanationsFile)
	card := pipelinetest.UseDevices(t, 1)[0]
	code, _, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "--device", "cuda", "--force")...)
	if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (") || card.Count("score") == 0 {
		t.Fatalf("%d, %s, operations %q, want what it computes on", code, stderr, card.Operations)
	}
	pipelinetest.SameText(t, "explanations of answers that a device ranks", pipelinetest.Read(t, folder, predict.ExplanationsFile), want)
}
