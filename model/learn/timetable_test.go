package learn

import (
	"testing"
	"time"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// TestTimetable plans trainings of large and small graphs: they take most of the time and never more, are validated at
// least five times, in a sixth of the time at most, and see no fact too often.
func TestTimetable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seconds float64
		speed   Speed
		facts   int
		valid   int64
		full    bool
	}{
		"a large graph":      {600, Speed{.02, .004}, 272_115, 35_000, true},
		"a short time":       {20, Speed{.02, .004}, 272_115, 35_000, true},
		"a small graph":      {600, Speed{.001, .0005}, 5_216, 1_304, false},
		"some passes":        {60, Speed{.001, .0005}, 5_216, 1_304, true},
		"half a pass":        {60, Speed{.02, .0005}, 5_216, 1_304, true},
		"slow ranks":         {60, Speed{.001, .1}, 30_000, 1_000, false},
		"without validation": {60, Speed{.001, 0}, 30_000, 0, true},
	} {
		configured := configuration.Default()
		got, ok := c.speed.Timetable(c.seconds, configured, c.facts, c.valid, 1)
		if !ok {
			t.Errorf("%s: no plan", name)
			continue
		}
		configured.QueriesPerEpoch = got.QueriesPerEpoch
		if n := int64(got.Epochs * steps.FactsPerEpoch(c.facts, configured)); n != got.Queries {
			t.Errorf("%s: %d queries, want %d", name, got.Queries, n)
		}
		validation := metrics.Validation{Every: got.ValidateEvery, Limit: got.ValidLimit}
		seconds := c.speed.Epoch(configured, c.facts, c.valid, validation) * float64(got.Epochs+1)
		if seconds > c.seconds {
			t.Errorf("%s: %.1f of %.0f seconds, with an epoch more", name, seconds, c.seconds)
		}
		if c.full && seconds < .7*c.seconds {
			t.Errorf("%s: %.1f of %.0f seconds are used", name, seconds, c.seconds)
		}
		if n := got.Epochs / got.ValidateEvery; n < 5 || n > 20 {
			t.Errorf("%s: %d validations: %+v", name, n, got)
		}
		if got.Queries > MostPasses*int64(c.facts) {
			t.Errorf("%s: %d queries about %d facts", name, got.Queries, c.facts)
		}
		if want := name == "a small graph"; got.Enough != want {
			t.Errorf("%s: enough passes: %v, want %v", name, got.Enough, want)
		}
		if rate := steps.LearningRate(configuration.Configuration{LearningRate: 1, LearningRateDecay: got.Decay}, got.Epochs); rate < .1 || rate > .15 {
			t.Errorf("%s: the last learning rate is %g of the first, want %g", name, rate, lastRate)
		}
	}
	if got, ok := (Speed{1, .1}).Timetable(60, configuration.Default(), 272_115, 35_000, 0); ok {
		t.Errorf("a minute for 60 queries: %+v, want none", got)
	}
}

// TestTimetableBefore shares the time with a fit that takes as long as the training, up to a bound, and says what a
// time lacks that is too short for both.
func TestTimetableBefore(t *testing.T) {
	t.Parallel()
	s, c := Speed{Query: .02}, configuration.Default()
	fit := func(t Timetable) float64 { return 10 + min(180, s.Query*float64(t.Queries)) }
	for _, seconds := range []float64{50, 60, 180, 600, 3600} {
		got, lacks := s.TimetableBefore(fit, seconds, c, 272_115, 0, 0)
		if total := s.Query*float64(got.Queries)/(1-reserve) + fit(got); lacks != 0 || !(total > .9*seconds && total < 1.02*seconds) {
			t.Errorf("%g seconds: %g are used, %g lack", seconds, total, lacks)
		}
	}
	_, lacks := s.TimetableBefore(fit, 11, c, 272_115, 0, 0)
	if _, still := s.TimetableBefore(fit, 11+lacks, c, 272_115, 0, 0); !(lacks > 1 && still == 0) {
		t.Errorf("11 seconds lack %g, and with them %g", lacks, still)
	}
}

// TestThousandQueries plans no more than a thousand queries, also of large batches, and of fewer
// where a batch is small.
func TestThousandQueries(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	for _, batch := range []int{1, 64, 128, 1000} {
		c.BatchSize = batch
		got, ok := (Speed{Query: .01}).Timetable(1010*.01/(1-reserve), c, 50_000, 0, 0)
		if !ok || got.Queries > 1010 || got.Queries < 850 {
			t.Errorf("batches of %d: %+v, %t, want a thousand queries", batch, got, ok)
		}
	}
}

// TestEpochs counts the epochs of a resumed training.
func TestEpochs(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.QueriesPerEpoch = 1000
	s := Speed{Query: .001, Ranked: .01}
	if got := s.Epoch(c, 10_000, 400, metrics.Validation{Every: 2, Limit: 100}); !(got > 1.49 && got < 1.51) {
		t.Errorf("an epoch of %g seconds, want 1.5", got)
	}
	if got := s.Epochs(20, c, 10_000, 100, metrics.Validation{Every: 1}); got != 9 {
		t.Errorf("%d epochs in 20 seconds, want 9 of two seconds", got)
	}
}

// TestMeasure measures a training and leaves no trace of it.
func TestMeasure(t *testing.T) {
	run := toyRun(inMemory(t, "run"))
	for name, data := range map[string]Data{"with validation": toy(t), "without": func() Data { d := toy(t); d.Valid = nil; return d }()} {
		s, err := Measure(t.Context(), run, data, 20*time.Millisecond)
		if err != nil {
			t.Fatal(name, err)
		}
		if !(s.Query > 0) {
			t.Errorf("%s: a query takes %g seconds", name, s.Query)
		}
		if ranked := s.Ranked > 0; ranked != (len(data.Valid) > 0) {
			t.Errorf("%s: a ranked answer takes %g seconds", name, s.Ranked)
		}
	}
	if records, _, err := checkpoint.Folder(run.Checkpoints).Records(t.Context()); len(records) > 0 || err != nil {
		t.Errorf("%d checkpoints, %v", len(records), err)
	}
}
