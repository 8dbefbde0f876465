package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tagnet/model/internal/spec"
	"tagnet/model/weights/configuration"
)

// softmaxLoss returns what the kernel computes of a query whose share in the batch's mean is a half: the loss, the
// gradients of the scores, and whether it reports that the loss is not finite. The answer's score is the first; drawn
// are the negatives, by their scores' indices.
func softmaxLoss(t *testing.T, e *engine, scores []float32, drawn []int32) (loss float32, gradients []float32, bad bool) {
	t.Helper()
	multiplicity := make([]int32, len(scores))
	for _, i := range drawn {
		multiplicity[i]++
	}
	m := &e.memory
	b := e.batch
	b.Queries = place(m, []encodedQuery{{Candidates: int32(len(scores))}})
	b.CandidateStride, b.Share = int32(len(scores)), .5
	b.Scores, b.Multiplicity = place(m, scores), place(m, multiplicity)
	b.ScoreGradients, b.Losses, b.Bad = m.allocate(int64(4*len(scores))), m.allocate(4), place(m, []int32{0})
	e.start(nil, nil, nil, func(started *batch) { *started = b })
	e.launch("softmax_loss", 1, 256)
	loss, gradients = values(e, b.Losses, make([]float32, 1))[0], values(e, b.ScoreGradients, make([]float32, len(scores)))
	bad = values(e, b.Bad, make([]int32, 1))[0] != 0
	if m.err != nil {
		t.Fatal(m.err)
	}
	return loss, gradients, bad
}

// TestSoftmaxLoss compares the loss and each gradient with the specification's, relative to itself: those of an answer
// that is all but certain are small.
func TestSoftmaxLoss(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	many, drawn := make([]float32, 700), make([]int32, 2000)
	for i := range many {
		many[i] = 10 * float32(random.NormFloat64())
	}
	for i := range drawn {
		drawn[i] = random.Int32N(700)
	}
	e := newLoaded(t, true)
	for name, test := range map[string]struct {
		scores []float32
		drawn  []int32
	}{
		"one negative":         {[]float32{1, 2}, []int32{1}},
		"repeated negatives":   {[]float32{1, 2, -1}, []int32{1, 1, 2, 1}},
		"certain":              {[]float32{20, 2, 4}, []int32{1, 1, 2}},
		"certain of another":   {[]float32{-60, 100, 40}, []int32{1, 2}},
		"answer drawn":         {[]float32{1, 0, 2}, []int32{1, 0, 2, 0}},
		"only the answer":      {[]float32{3}, []int32{0, 0, 0}},
		"only negative scores": {[]float32{-200, -201, -199}, []int32{1, 2}},
		"many":                 {many, drawn},
	} {
		loss, gradients, bad := softmaxLoss(t, e, test.scores, test.drawn)
		scores := make([]float64, len(test.scores))
		for i, s := range test.scores {
			scores[i] = float64(s)
		}
		want, wantGradients := spec.Loss(configuration.Configuration{Loss: configuration.LossSoftmax}, scores, 0, test.drawn)
		near := func(what string, got float32, want float64) {
			if difference := math.Abs(float64(got) - want/2); !(difference <= 1e-5*math.Abs(want)+1e-15) {
				t.Errorf("%s: %s is %g, want %g", name, what, got, want/2)
			}
		}
		near("the loss", loss, want)
		for i, g := range gradients {
			near(fmt.Sprintf("gradient %d", i), g, wantGradients[i])
		}
		if bad {
			t.Errorf("%s: loss %g is reported", name, loss)
		}
	}
}

// TestSoftmaxLossThatIsNotFinite checks that a score that is infinite or a NaN makes a loss that is not finite. Only a
// negative may have minus infinity.
func TestSoftmaxLossThatIsNotFinite(t *testing.T) {
	t.Parallel()
	infinity, nan := float32(math.Inf(1)), float32(math.NaN())
	e := newLoaded(t, true)
	for name, scores := range map[string][]float32{
		"answer infinite": {infinity, 1, 2}, "answer minus infinite": {-infinity, 1, 2}, "answer NaN": {nan, 1, 2}, "answer minus NaN": {-nan, 1, 2},
		"negative infinite": {1, infinity, 2}, "negative NaN": {1, 2, nan}, "all infinite": {infinity, infinity, infinity},
		"all minus infinite": {-infinity, -infinity, -infinity},
	} {
		loss, _, bad := softmaxLoss(t, e, scores, []int32{1, 2})
		if finite := math.Abs(float64(loss)) <= math.MaxFloat32; finite || !bad {
			t.Errorf("%s: loss %g, reported %t", name, loss, bad)
		}
	}
}
