package train

import (
	"fmt"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestDivergedTraining says so once while it trains, at its end, and in its error, with the flag to change. Its
// checkpoints stay. A training that learns says nothing.
func TestDivergedTraining(t *testing.T) {
	files := map[string]string{}
	for i := range 200 { // 20 entities, of which a fact says much
		split := "train.txt"
		if i%5 == 4 {
			split = "valid.txt"
		}
		files[split] += fmt.Sprintf("e%d\tr%d\te%d\n", i%20, i%3, (7*(i%20)+i/20)%20)
	}
	for _, c := range []struct {
		rate, loss, equal string
		want              int
	}{{"0.02", "binary", "", 0}, {"1000", "binary", "0.6931; the validation MRR is not clearly above 0.", 1}, {"0.02", "softmax", "", 0},
		{"1000", "softmax", "2.1972", 1}} {
		rate, want, w := c.rate, c.want, ring(t, 40)
		if want > 0 {
			w = prepared(t, pipelinetest.Dataset(t, files))
		}
		code, out, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--learning_rate", rate, "--loss", c.loss, "--negatives", "8", "--force")...)
		if wanted := want * command.ExitDiverged; code != wanted {
			t.Fatalf("%s loss, learning rate %s: exit code %d, want %d: %s", c.loss, rate, code, wanted, stderr)
		}
		if complete := workspace.New(w).Complete(t.Context(), "runs/main/checkpoints"); !complete {
			t.Errorf("learning rate %s: the checkpoints are not complete", rate)
		}
		says := " and that of equal scores for all entities " + c.equal
		remedy := "; try a --learning_rate below " + rate
		epochs, last := stderr, "" // of which the last line is the error
		if at := strings.LastIndex(strings.TrimSpace(stderr), "\n"); want > 0 {
			epochs, last = stderr[:at], stderr[at:]
		}
		for name, text := range map[string]string{"progress": epochs, "summary": out, "error": last} {
			if got := strings.Count(text, says); got != want {
				t.Errorf("learning rate %s: the %s says %d times that it diverged, want %d:\n%s", rate, name, got, want, text)
			}
			if got := strings.Count(text, remedy); got != want {
				t.Errorf("learning rate %s: the %s has the remedy %d times, want %d:\n%s", rate, name, got, want, text)
			}
		}
	}
}

// TestValidationAtChance trains on a ring, and validates on facts of a relation that it says nothing about.
func TestValidationAtChance(t *testing.T) {
	files := pipelinetest.Ring("e", 40)
	valid := ""
	for i := range 40 {
		valid += fmt.Sprintf("e%03d\tnext\te%03d\n", i, (i*i+i/2+17)%40)
	}
	files["valid.txt"] = valid
	w := prepared(t, pipelinetest.Dataset(t, files))
	for rate, want := range map[string]string{
		"0.05":   "the validation facts are too few to tell, or do not follow from the training facts\n",
		"0.0001": "try a --learning_rate below 0.0001, or more --epochs\n",
	} {
		out := pipelinetest.Succeed(t, Pipeline(), small(w, "--learning_rate", rate, "--force")...)
		if !strings.Contains(out, "this MRR is not clearly above 0.1") || !strings.Contains(out, "that of random scores: "+want) {
			t.Errorf("learning rate %s: no %q in %s", rate, want, out)
		}
	}
}

// TestQueriesWithoutNegatives are counted in one line of all epochs.
func TestQueriesWithoutNegatives(t *testing.T) {
	text := ""
	for i := range 7 {
		for j := range 7 {
			text += fmt.Sprintf("e%d\tall\te%d\n", i, j)
		}
		text += fmt.Sprintf("e%d\tnext\te%d\n", i, (i+1)%7)
	}
	w := prepared(t, pipelinetest.Dataset(t, map[string]string{"train.txt": text}))
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	if got := strings.Count(stderr,
		"49 of the 56 training queries of epoch 1 have no negatives, since all entities are known answers, and are left out"); got != 1 {
		t.Errorf("said %d times, want once:\n%s", got, stderr)
	}
}
