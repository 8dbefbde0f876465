package learn

import (
	"strings"
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
	least := Speed{1, .1}.Least(configuration.Default(), 272_115, 35_000, 0)
	if _, ok := (Speed{1, .1}).Timetable(least, configuration.Default(), 272_115, 35_000, 0); !ok {
		t.Errorf("%g seconds are not enough", least)
	}
	if got, ok := (Speed{1, .1}).Timetable(.9*least, configuration.Default(), 272_115, 35_000, 0); ok {
		t.Errorf("%g seconds are enough for %+v, want %g", .9*least, got, least)
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

// TestUntil ends a training at a time with a complete epoch, from which it can be resumed to the
// bytes of one without it.
func TestUntil(t *testing.T) {
	all := toyRun(inMemory(t, "all"))
	train(t, all, toy(t))
	rarely := toyRun(inMemory(t, "rarely"))
	rarely.Validation.Every, rarely.Until = 2, time.Now()
	said := ""
	if _, err := Train(t.Context(), rarely, toy(t), func(p Progress) { said += p.Notice }); err != nil {
		t.Fatal(err)
	}
	if want := "; --epochs 1 makes the same weights, and validates those of this epoch, too"; !strings.HasSuffix(said, want) {
		t.Errorf("an epoch that was not validated: %q, want %q", said, want)
	}
	run := all
	run.Checkpoints, run.History = inMemory(t, "run")+"/checkpoints", inMemory(t, "run")+"/training.jsonl"
	run.Until = time.Now()
	notice := ""
	last, err := Train(t.Context(), run, toy(t), func(p Progress) { notice += p.Notice })
	if err != nil {
		t.Fatal(err)
	}
	if last.Epoch != 1 || last.Partial != nil {
		t.Errorf("the training ends with %s, want the first epoch", last.Name())
	}
	for _, want := range []string{"the time is up after 1 of ", "; --epochs 1 makes the same model"} {
		if !strings.Contains(notice, want) {
			t.Errorf("no %q in %q", want, notice)
		}
	}
	run.Until = time.Now().Add(time.Hour)
	train(t, run, toy(t))
	sameFiles(t, contents(t, all.Checkpoints), contents(t, run.Checkpoints))
}
