package learn

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
)

// epochWeights returns the weights of the checkpoint of each epoch, all tensors joined.
func epochWeights(t *testing.T, run Run) [][]float32 {
	t.Helper()
	var epochs [][]float32
	for e := range run.Configuration.Epochs {
		_, tensors, err := checkpoint.Folder(run.Checkpoints).Load(t.Context(), checkpoint.EpochName(e+1))
		if err != nil {
			t.Fatal(err)
		}
		var all []float32
		for _, t := range tensors {
			all = append(all, t.Data...)
		}
		epochs = append(epochs, all)
	}
	return epochs
}

// TestWeightAverage compares the epochs' weights with those of the same training without an average, averaged here, and
// trained by one worker and by several.
func TestWeightAverage(t *testing.T) {
	const share = 0.6
	for _, workers := range []int{0, 3} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			trained := func(name string, share float64) Run {
				run := toyRun(inMemory(t, name))
				run.Configuration.WeightAverage = share
				if workers == 0 {
					train(t, run, toy(t))
					return run
				}
				run.Rounds.Workers, run.Rounds.LocalSteps = workers, 1
				trainRounds(t, run, toy(t), nil)
				return run
			}
			plain, run := trained("plain", 0), trained("averaged", share)
			want := epochWeights(t, plain)
			var average []float64
			for e, got := range epochWeights(t, run) {
				for i, w := range want[e] {
					if e == 0 {
						average = append(average, float64(w))
					}
					average[i] = share*average[i] + (1-share)*float64(w)
					if diff := math.Abs(float64(got[i]) - average[i]); !(diff <= 1e-6) {
						t.Fatalf("epoch %d: weight %d is %g, want %g", e+1, i, got[i], average[i])
					}
				}
			}
			sameLosses(t, plain, run)
			validated(t, run, toy(t))
		})
	}
}

// sameLosses checks that two runs trained alike.
func sameLosses(t *testing.T, a, b Run) {
	t.Helper()
	left, err := metrics.ReadHistory(t.Context(), a.History)
	if err != nil {
		t.Fatal(err)
	}
	right, err := metrics.ReadHistory(t.Context(), b.History)
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		if left[i].Loss != right[i].Loss {
			t.Errorf("epoch %d: loss %g and %g", i+1, left[i].Loss, right[i].Loss)
		}
	}
}

// validated checks that the metrics of each epoch are those of the weights in its checkpoint.
func validated(t *testing.T, run Run, data Data) {
	t.Helper()
	for e := range run.Configuration.Epochs {
		r, weights, err := checkpoint.Folder(run.Checkpoints).Load(t.Context(), checkpoint.EpochName(e+1))
		if err != nil {
			t.Fatal(err)
		}
		l := newLearner(run, data, nil)
		if err := errors.Join(l.initialize(), checkpoint.Fill(l.parameters, weights)); err != nil {
			t.Fatal(err)
		}
		l.begin()
		if valid, _, err := l.validate(t.Context(), l.parameters); err != nil || *valid != *r.Valid {
			t.Errorf("epoch %d: its weights have the metrics %+v (%v), its record %+v", e+1, valid, err, r.Valid)
		}
	}
}
