package ask

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// TestPatterns compares the answers of a file of patterns, in several shards, with the library, and prints some.
func TestPatterns(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	texts := []string{
		`next(?a, ?b), skip(?b, e010)`, `next(e003, ?a), not skip(?a, ?b), next(?b, e007)`, `skip(?a, e010)`, `next(?b, e004), skip(?b, ?c)`,
		`next(?a, e001), not back(?a, e002)`, `next(?a, ?b), skip(?c, ?b), next(?c, e020)`,
	}
	file := scoringtest.File(t, "patterns.txt", strings.Join(texts, "\r\n\n")+"\n")
	arguments := []string{"--workspace", w, "--patterns", file, "--top_k", "3", "--bindings", "2"}
	out := pipelinetest.Succeed(t, Pipeline(), arguments...)
	rows := func() []parquet.Match {
		return stagetest.Rows[parquet.Match](t, filepath.Join(w, "runs/main/answers/patterns", predict.MatchesTable))
	}
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var want []parquet.Match
	for i, text := range texts {
		found, err := m.Match(t.Context(), model.Pattern{Text: text, Bindings: 2}, 3)
		if err != nil {
			t.Fatal(err)
		}
		var cuts []string
		for _, c := range found.Cuts {
			cuts = append(cuts, c.String())
		}
		for j, one := range found.List {
			want = append(want, parquet.Match{Pattern: int64(i), Text: text, Position: int32(j + 1), Entity: one.Entity, Probability: one.Probability,
				LogOdds: one.LogOdds, Facts: one.Text(), Cut: strings.Join(cuts, ", ")})
		}
	}
	if diff := cmp.Diff(want, rows()); diff != "" {
		t.Errorf("rows (-library +table):\n%s", diff)
	}
	lines := strings.Split(strings.TrimSpace(pipelinetest.Read(t, w, "runs/main/answers/patterns", predict.MatchesFile)), "\n")
	if len(lines) != 1+len(want) || !strings.HasPrefix(lines[1], "0\t"+texts[0]+"\t1\t") {
		t.Errorf("%d lines for %d rows: %q", len(lines), len(want), lines[:2])
	}
	for _, line := range []string{"\n" + texts[2] + "\n", "   1  " + want[0].Entity + "  "} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	if again := pipelinetest.Succeed(t, Pipeline(), arguments...); !strings.Contains(again, "already exists: ") {
		t.Errorf("a second run says\n%s", again)
	}
	// Stated facts alone, of one pattern: they are followed from all.
	out = pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--pattern", "next(?a, ?b),\n next(?b, e010)", "--answer", "?b", "--stated", "--bindings", "1")
	stated := rows()
	if len(stated) != 1 || stated[0].Entity != "e009" || stated[0].Probability != 1 || stated[0].Cut != "" || !strings.Contains(out, "   1  e009  stated\n") {
		t.Errorf("stated facts give %+v:\n%s", stated, out)
	}
	out = pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--pattern", "next(?a, e010), next(?a, e020)", "--stated")
	if len(rows()) != 0 || !strings.Contains(out, "      none\n") {
		t.Errorf("nothing is said as\n%s", out)
	}
}

// TestPatternErrors checks that each error is in a line, with the place, and leaves answers as they are.
func TestPatternErrors(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	pattern := func(text string, more ...string) []string { return append([]string{"--pattern", text}, more...) }
	for want, flags := range map[string][]string{
		`F:3: the pattern, letter 10, before "e99)": unknown entity "e99"`: {"--patterns", scoringtest.File(t, "p.txt", "next(?a, e001)\n\nnext(?a, e99)\n")},
		`F has no pattern`: {"--patterns", scoringtest.File(t, "p.txt", "\n")},
		`the pattern, letter 6, before "?a]": want (`:              pattern("next[?a]"),
		`letter 1, before "next(?a, e001)": it has no variable ?b`: pattern("next(?a, e001)", "--answer", "b"),
		`--pattern asks one pattern, --patterns those of a file`:   pattern("next(?a, e001)", "--patterns", "F"),
		`--known is not for a pattern`:                             pattern("next(?a, e001)", "--known"),
		`--graph is not for a pattern`:                             pattern("next(?a, e001)", "--graph", "train"),
		`--bindings is for --pattern and --patterns`:               {"--relation", "next", "--bindings", "3"},
		`0`: pattern("next(?a, e001)", "--bindings", "0"),
	} {
		if i := slices.Index(flags, "--patterns"); i >= 0 {
			want = strings.Replace(want, "F", flags[i+1], 1)
		}
		code, _, stderr := pipelinetest.Run(t, Pipeline(), append([]string{"--workspace", w}, flags...)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: code %d, %s, want %s", flags, code, stderr, want)
		}
		if n := strings.Count(stderr, "\n"); strings.HasPrefix(fmt.Sprint(want), "the pattern") && n != 1 {
			t.Errorf("%q: %d lines", flags, n)
		}
	}
}

// TestPatternFiles reads patterns of long lines, and compressed ones behind a byte-order mark, and keeps the spaces of
// names.
func TestPatternFiles(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	facts := "Ada  B\tknows\tBob\nCy\tknows\tAda  B\n"
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": facts}))
	var long []string
	for range 3000 {
		long = append(long, `knows(?x, "Ada  B")`)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("\ufeff" + strings.Join(long, ", ") + "\r\nknows(?x, Bob)\r\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for want, flags := range map[string][]string{
		"Cy":           {"--pattern", "knows(?x,\r\n\"Ada  B\")"},
		"Cy; Ada  B":   {"--patterns", scoringtest.File(t, "p.txt", "\ufeff"+strings.Join(long, ", ")+"\nknows(?x, Bob)")},
		"Cy; Ada  B; ": {"--patterns", scoringtest.File(t, "p.txt.gz", packed.String())},
	} {
		pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--stated"}, flags...)...)
		var answers []string
		for _, row := range stagetest.Rows[parquet.Match](t, filepath.Join(w, "runs/main/answers/patterns", predict.MatchesTable)) {
			answers = append(answers, row.Entity)
		}
		if got := strings.Join(answers, "; "); got != strings.TrimSuffix(want, "; ") {
			t.Errorf("%.40q: answers %s, want %s", flags, got, want)
		}
	}
}

// TestCut prints what is not followed: of those who know one person, where all do.
func TestCut(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	facts := ""
	for i := range 40 {
		facts += fmt.Sprintf("person%02d\tknows\tperson%02d\nperson%02d\tknows\tAda\n", i, (i+1)%40, i)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": facts}))
	file := scoringtest.File(t, "patterns.txt", "knows(?who, person07)\nknows(?who, Ada), not knows(?who, person07)\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--patterns", file, "--bindings", "5", "--top_k", "3")
	rows := stagetest.Rows[parquet.Match](t, filepath.Join(w, "runs/main/answers/patterns", predict.MatchesTable))
	storagetest.EveryField(t, rows)
	if len(rows) != 7 || !strings.Contains(out, "      followed: ?who: the 5 best of 40; --bindings takes more\n") {
		t.Errorf("%d answers:\n%s", len(rows), out)
	}
}
