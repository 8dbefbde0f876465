package review

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// listed returns a workspace with a list by zero.
func listed(t *testing.T) string {
	t.Helper()
	return pipelinetest.Template(t, "listed", func(workspace string) {
		files := pipelinetest.Ring("e", 60)
		delete(files, "test.txt")
		delete(files, "valid.txt")
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, files))
		pipelinetest.Succeed(t, discover.Pipeline(), "--workspace", workspace)
	})
}

// list returns the facts of the list.
func list(t *testing.T, workspace string) (facts []verdicts.Fact) {
	t.Helper()
	err := parquet.EachPart(t.Context(), filepath.Join(workspace, "runs/main/facts/all/facts"), func(rows []parquet.Fact) error {
		for _, r := range rows {
			facts = append(facts, verdicts.Fact{Head: r.Head, Relation: r.Relation, Tail: r.Tail})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func given(t *testing.T, workspace string) verdicts.Judged {
	t.Helper()
	j, err := verdicts.Read(t.Context(), storage.Join(workspace, verdicts.File))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// count counts the facts whose verdict a condition holds for.
func count(j verdicts.Judged, holds func(verdicts.Verdict) bool) (n int) {
	for _, v := range j.Of {
		if holds(v) {
			n++
		}
	}
	return n
}

// lines returns the number of verdicts in the file.
func lines(j verdicts.Judged) int { return bytes.Count(j.Text, []byte("\n")) - 1 }

func weighed(v verdicts.Verdict) bool { return v.Weight > 0 }

// TestReview types keys, and lists again: what is judged is gone, and what is undone is back.
func TestReview(t *testing.T) {
	w := listed(t)
	before := list(t, w)
	out := pipelinetest.Succeed(t, pipeline(strings.NewReader("t\nx\nfalse\nu\nS\nF\nt\nq\n")), "--workspace", w, "--who", "Ada")
	for _, says := range []string{"1 of 50", "so in ", "type one of the first letters", "verdicts given: 3, kept in ", "next: go run ./pipelines/discover"} {
		if !strings.Contains(out, says) {
			t.Errorf("%s does not say %q", out, says)
		}
	}
	j := given(t, w)
	isTrue := count(j, func(v verdicts.Verdict) bool { return v.Judgment == verdicts.True })
	if len(j.Of) != 3 || isTrue != 2 || lines(j) != 5 || count(j, weighed) != 3 || !strings.Contains(string(j.Text), "\tAda\t") {
		t.Errorf("verdicts %+v", j)
	}
	again := pipelinetest.Succeed(t, discover.Pipeline(), "--workspace", w)
	if !strings.Contains(again, "the results of other verdicts in ") {
		t.Errorf("a list of other verdicts: %s", again)
	}
	after := map[verdicts.Fact]bool{}
	for _, f := range list(t, w) {
		after[f] = true
		if _, judged := j.Of[f]; judged {
			t.Errorf("%v is judged, and listed again", f)
		}
	}
	for _, f := range before {
		if _, judged := j.Of[f]; !judged && !after[f] && len(before) < 10_000 {
			t.Errorf("%v is not listed any more", f)
		}
	}
	queries := ""
	for f := range j.Of {
		queries += f.Head + "\t" + f.Relation + "\n"
	}
	file := filepath.Join(t.TempDir(), "queries.txt")
	pipelinetest.Write(t, file, queries)
	known := pipelinetest.Succeed(t, ask.Pipeline(), "--workspace", w, "--queries", file, "--known")
	if strings.Count(known, "  judged true") != isTrue || strings.Count(known, "  judged false") != len(j.Of)-isTrue {
		t.Errorf("verdicts of answers: %s", known)
	}
	// No fact is shown twice, but for the undone one.
	asked := pipelinetest.Succeed(t, pipeline(strings.NewReader("")), "--workspace", w)
	for f := range j.Of {
		if strings.Contains(asked, fmt.Sprintf("  %s  %s  %s\n", f.Head, f.Relation, f.Tail)) {
			t.Errorf("%v is shown a second time", f)
		}
	}
	for f := range j.Of {
		if err := verdicts.Append(t.Context(), w, "test", verdicts.Verdict{Fact: f, Judgment: verdicts.Undo}); err != nil {
			t.Fatal(err)
		}
	}
	pipelinetest.Succeed(t, discover.Pipeline(), "--workspace", w)
	if now := list(t, w); fmt.Sprint(now) != fmt.Sprint(before) {
		t.Errorf("with all undone %d facts are listed, want the %d as before", len(now), len(before))
	}
}

// TestReviewOfAFile makes a file, fills it in, and reads it, twice.
func TestReviewOfAFile(t *testing.T) {
	w, file := listed(t), filepath.Join(t.TempDir(), "sample.csv")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--file", file, "--facts", "30")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(rows) != 31 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	filled := "sep=;\n"
	for i, row := range rows {
		if i > 0 {
			row[3] = []string{"TRUE", "false", ""}[i%3]
		}
		filled += strings.Join(row, ";") + "\n"
	}
	pipelinetest.Write(t, file, filled)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--file", file, "--who", "Bo")
	if !strings.Contains(out, "verdicts given: 20, ") || !strings.Contains(out, "20 verdicts: between ") {
		t.Errorf("%s", out)
	}
	if j := given(t, w); len(j.Of) != 20 || count(j, weighed) != 20 || lines(j) != 20 {
		t.Errorf("verdicts %+v", j)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--file", file); !strings.Contains(out, "verdicts that were there: 20") ||
		lines(given(t, w)) != 20 {
		t.Errorf("read twice: %s", out)
	}
	// Of several lines on a fact the last one counts, however often the file is read.
	twice := filepath.Join(t.TempDir(), "twice.csv")
	pipelinetest.Write(t, twice, "head,relation,tail,verdict\ne001,next,e009,true\ne001,next,e009,false\n")
	for range 2 {
		pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--file", twice)
		if j := given(t, w); j.Of[verdicts.Fact{Head: "e001", Relation: "next", Tail: "e009"}].Judgment != verdicts.False || lines(j) != 21 {
			t.Errorf("judged true, then false: %+v", j)
		}
	}
	for name, c := range map[string]struct {
		text string
		want pipelinetest.Failure
	}{
		"unknown": {"head,relation,tail,verdict\ne001,next,e999,true\n", pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"e999"}}},
		"words": {"head,relation,tail,verdict\ne001,next,e003,maybe\n",
			pipelinetest.Failure{Code: command.ExitFailure, Says: []string{`:2: the verdict is "maybe"`}}},
		"no list": {"", pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"does not exist: run"}}},
	} {
		file, flags := filepath.Join(t.TempDir(), "v.csv"), []string{"--workspace", w}
		if c.text == "" {
			flags = append(flags, "--list", "other")
		} else {
			pipelinetest.Write(t, file, c.text)
			flags = append(flags, "--file", file)
		}
		pipelinetest.Fail(t, Pipeline(), c.want, flags...)
		if lines(given(t, w)) != 21 {
			t.Errorf("%s: a verdict was kept", name)
		}
	}
}
