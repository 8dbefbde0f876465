package ask

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/parquet"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/stagetest"
)

// TestOnUnknown skips lines with unknown names, of which the first line is one: skipped.tsv has their names, the last
// lines of the output account for all, and the other lines are answered as without these, under their own numbers.
func TestOnUnknown(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "next", "--output", "first") // which fits probabilities, and says so
	const heading = "line\tkind\tname\tclosest\n"
	for name, c := range map[string]struct {
		lines, skipped, says string
		known                string  // the lines that are left
		numbers              []int64 // of these lines in the file
	}{
		"queries": {
			"e00x\tnext\ne003\tnext\ne003\tnexd\ne001\tskip\ne003\tnext\n",
			"1\tentity\te00x\te000, e001, e002\n3\trelation\tnexd\tnext, back, skip\n", "answered 3 of 5 lines; 2 skipped: ",
			"e003\tnext\ne001\tskip\n", []int64{1, 3},
		},
		"triples": {
			"e00x\tnexd\te001\ne003\tnext\te004\ne003\tnext\te0000\ne001\tskip\te007\n",
			"1\tentity\te00x\te000, e001, e002\n1\trelation\tnexd\tnext, back, skip\n3\tentity\te0000\te000, e001, e002\n",
			"answered 2 of 4 lines; 2 skipped: ", "e003\tnext\te004\ne001\tskip\te007\n", []int64{1, 3},
		},
		"pairs": {
			"e00x\t?\te001\ne003\t?\te004\n", "1\tentity\te00x\te000, e001, e002\n", "answered 1 of 2 lines; 1 skipped: ",
			"e003\t?\te004\n", []int64{1},
		},
		"all known": {"e003\tnext\ne001\tskip\n", "", "answered 2 of 2 lines; 0 skipped: ", "e003\tnext\ne001\tskip\n", []int64{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			ask := func(output, file string) (string, string) {
				return pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--top_k", "2", "--on_unknown", "skip", "--output", output,
					"--queries", file), filepath.Join(w, "runs/main/answers", output)
			}
			output, file := strings.ReplaceAll(name, " ", "-"), scoringtest.File(t, "lines.tsv", c.lines)
			out, folder := ask(output, file)
			if !strings.Contains(out, c.says+filepath.Join(folder, skippedFile)+"\n") {
				t.Errorf("no %q in\n%s", c.says, out)
			}
			if diff := cmp.Diff(heading+c.skipped, pipelinetest.Read(t, folder, skippedFile)); diff != "" {
				t.Errorf("skipped.tsv (-want +got):\n%s", diff)
			}
			if again, _ := ask(output, file); again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
				t.Errorf("a second run says\n%s", again)
			}
			_, alone := ask(output+"-alone", scoringtest.File(t, "known.tsv", c.known))
			if name == "triples" || name == "pairs" {
				want := stagetest.Rows[parquet.Triple](t, filepath.Join(alone, "triples"))
				for i := range want {
					want[i].Query = c.numbers[want[i].Query]
				}
				if diff := cmp.Diff(want, stagetest.Rows[parquet.Triple](t, filepath.Join(folder, "triples"))); diff != "" || len(want) == 0 {
					t.Errorf("%d rows (-alone +beside skipped lines):\n%s", len(want), diff)
				}
				return
			}
			want := stagetest.Rows[parquet.Answer](t, filepath.Join(alone, "answers"))
			for i := range want {
				want[i].Query = c.numbers[want[i].Query]
			}
			if diff := cmp.Diff(want, stagetest.Rows[parquet.Answer](t, filepath.Join(folder, "answers"))); diff != "" || len(want) == 0 {
				t.Errorf("%d rows (-alone +beside skipped lines):\n%s", len(want), diff)
			}
		})
	}
}

// TestNothingIsLeft checks that a file of which every line would be skipped is an error, and leaves no folder.
func TestNothingIsLeft(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	unknown := scoringtest.File(t, "lines.tsv", "e00x\tnext\ne003\tnexd\n")
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--queries", unknown, "--on_unknown", "skip")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, want := range []string{`:1: unknown entity "e00x"; closest: `, `:2: unknown relation "nexd"; closest: `,
		": 2 names are unknown; no line is left to answer\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if files := pipelinetest.Files(t, filepath.Join(w, "runs/main/answers")); len(files) > 0 {
		t.Errorf("it leaves %d files", len(files))
	}
}
