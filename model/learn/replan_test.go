package learn

import (
	"context"
	"strings"
	"testing"
	"time"

	"tagnet/model/weights/parameters"
)

// TestReplan gives a training of four epochs other numbers of them while it runs, as many as end in time. It writes
// the bytes of one that has them from the start.
func TestReplan(t *testing.T) {
	for name, c := range map[string]struct {
		every  int
		enough []int // the epochs for which there is time, after each validation
		epochs int
		notice string
	}{
		"as planned":        {1, []int{4}, 4, ""},
		"longer":            {1, []int{3, 6}, 6, "there was time for 6 epochs, not 4: --epochs 6 makes the same model"},
		"longer at its end": {1, []int{4, 4, 4, 5}, 5, "there was time for 5 epochs, not 4: "},
		"planned again":     {1, []int{6, 6, 6, 4}, 4, ""},
		"shorter":           {1, []int{9, 2}, 2, "there was time for 2 epochs, not 4: "},
		"no time":           {1, []int{0}, 1, "there was time for 1 epochs, not 4: "},
		"validated rarely":  {2, []int{7}, 6, "there was time for 6 epochs, not 4: "},
	} {
		t.Run(name, func(t *testing.T) {
			timed := toyRun(inMemory(t, "timed"))
			timed.Validation.Every = c.every
			data, calls, notice := toy(t), 0, ""
			data.Replan = func(context.Context, *parameters.Set[float32]) (func(int) time.Time, error) {
				enough := c.enough[min(calls, len(c.enough)-1)]
				calls++
				return func(epochs int) (until time.Time) {
					if epochs <= enough {
						until = time.Now().Add(time.Hour)
					}
					return until
				}, nil
			}
			if _, err := Train(t.Context(), timed, data, func(p Progress) { notice += p.Notice }); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(notice, c.notice) || c.notice == "" && notice != "" {
				t.Errorf("it says %q, want %q", notice, c.notice)
			}
			same := toyRun(inMemory(t, "same"))
			same.Validation.Every, same.Configuration.Epochs = c.every, c.epochs
			train(t, same, toy(t))
			sameFiles(t, contents(t, same.Checkpoints), contents(t, timed.Checkpoints))
		})
	}
}
