package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Verify makes runs again in a new state, with the kernels of their results, and compares what no machine changes: the
// weights, and every metric to the last digit.
func (e *Engine) Verify(ctx context.Context, command string, runs []Run) error {
	bin, err := filepath.Abs(filepath.Join(e.State, "bin"))
	if err != nil {
		return err
	}
	again := &Engine{State: e.State + "-verify", Results: filepath.Join(e.State+"-verify", "results"), bin: bin, Out: e.Diagnostics, Diagnostics: e.Diagnostics}
	different := 0
	for _, r := range runs {
		state, why, want := e.Inspect(ctx, r)
		if state != Done {
			return fmt.Errorf("%s has no result to compare with: it is %s %s", r.Name, state, why)
		}
		if len(want.Kernels) != 1 {
			return fmt.Errorf("%s cannot be repeated to the last digit: kernels %s computed it", r.Name, strings.Join(want.Kernels, " and "))
		}
		if err := os.RemoveAll(again.State); err != nil {
			return err
		}
		if err := os.Setenv("TAGNET_KERNEL", want.Kernels[0]); err != nil {
			return err
		}
		if err := again.Make(ctx, command, []Run{r}); err != nil {
			return err
		}
		got, err := Read(ctx, again.Results, r.Name)
		if err != nil {
			return err
		}
		outcome := "every digit is that of the result"
		if differences := want.compare(got); len(differences) > 0 {
			different++
			outcome = fmt.Sprintf("differs from the result, which is of commit %.12s: %s", want.Commit, strings.Join(differences, "; "))
		}
		fmt.Fprintf(e.Out, "%s: %s\n", r.Name, outcome)
	}
	if different > 0 {
		return fmt.Errorf("%d of %d runs differ from their results", different, len(runs))
	}
	return os.RemoveAll(again.State)
}

// compare returns in what the commands of another result differ.
func (r *Result) compare(other *Result) (differences []string) {
	for name, then := range r.Commands {
		now := other.Commands[name]
		if then.Training != nil && then.Training.Weights != now.Training.Weights {
			differences = append(differences, name+" has other weights")
		}
		if e := then.Evaluation; e != nil && !reflect.DeepEqual(e.Summary, now.Evaluation.Summary) {
			differences = append(differences, fmt.Sprintf("%s MRR %v instead of %v", name, now.Evaluation.Pessimistic.MRR, e.Pessimistic.MRR))
		}
		if string(then.Made) != string(now.Made) {
			differences = append(differences, fmt.Sprintf("%s %s instead of %s", name, now.Made, then.Made))
		}
	}
	return differences
}
