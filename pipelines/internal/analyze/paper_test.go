package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/analysis"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestWhatThePaperSays compares with the paper's tables on mean degree, distances and pruned
// messages. Of the last, the paper's 91% and 9% of WN18RR do not follow from its definitions.
func TestWhatThePaperSays(t *testing.T) {
	const data = "../../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the datasets are not at %s", data)
	}
	if testing.Short() {
		t.Skip("searches all of FB15k-237 and WN18RR: about half a minute")
	}
	for _, test := range []struct {
		dataset, delta          string
		meanDegree, pruned      string
		one, two, three, beyond string // beyond is 6 and more
		four, five              string
	}{
		{"fb15k-237", "2", "18.7", "49.7 50.3", "0%", "73%", "26%", "0%", "0.2%", "0.005%"},
		{"wn18rr", "3", "2.1", "99.9 0.1", "35%", "9%", "21%", "18%", "7%", "9%"},
	} {
		t.Run(test.dataset, func(t *testing.T) {
			workspace := t.TempDir()
			pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--dataset", filepath.Join(data, test.dataset), "--splits", "test", "--deltas", test.delta)
			a, err := analysis.Read(t.Context(), filepath.Join(workspace, "analysis"))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%.1f", a.MeanDegree); got != test.meanDegree {
				t.Errorf("mean degree %s, want %s", got, test.meanDegree)
			}
			split := a.Splits["test"]
			at := func(distances ...string) float64 {
				sum := 0.0
				for _, d := range distances {
					sum += 100 * split.ByDistance[d].Share
				}
				return sum
			}
			for _, row := range []struct {
				at   float64
				want string
			}{{at("1"), test.one}, {at("2"), test.two}, {at("3"), test.three}, {at("4"), test.four}, {at("5"), test.five}, {at("6", "unreached"), test.beyond}} {
				digits := 0
				if _, after, found := strings.Cut(strings.TrimSuffix(row.want, "%"), "."); found {
					digits = len(after)
				}
				if got := fmt.Sprintf("%.*f%%", digits, row.at); got != row.want {
					t.Errorf("%s of the answers where the paper has %s", got, row.want)
				}
			}
			m := split.Messages[0]
			if got := fmt.Sprintf("%.1f %.1f", 100*m.PrunedEmptyShare, 100*m.PrunedRedundantShare); got != test.pruned {
				t.Errorf("pruned messages are %s%% empty and redundant, want %s", got, test.pruned)
			}
		})
	}
}
