package learn

import (
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
)

// TestStopped counts epochs since the best one, and ends a training only after one that was validated.
func TestStopped(t *testing.T) {
	t.Parallel()
	records := func(mrr ...float64) (list []checkpoint.Record) {
		for i, m := range mrr {
			r := checkpoint.Record{Epoch: i + 1}
			if m > 0 {
				r.Valid = &metrics.Valid{Ranks: metrics.Ranks{Pessimistic: metrics.Metrics{MRR: m}}}
			}
			list = append(list, r)
		}
		return list
	}
	inside := append(records(0.5, 0.4), checkpoint.Record{Epoch: 3, Partial: &checkpoint.Partial{}})
	for name, c := range map[string]struct {
		records  []checkpoint.Record
		patience int
		want     bool
	}{
		"before the first": {nil, 1, false}, "no patience": {records(0.5, 0.4, 0.3), 0, false}, "better": {records(0.3, 0.4), 1, false},
		"worse":               {records(0.4, 0.3), 1, true},
		"equal is not better": {records(0.4, 0.4), 1, true}, "worse once of two": {records(0.4, 0.3), 2, false},
		"better again": {records(0.4, 0.3, 0.5), 2, false},
		"worse twice":  {records(0.4, 0.3, 0.3), 2, true}, "not validated": {records(0.4, 0, 0), 1, false},
		"validated late":  {records(0.4, 0, 0, 0.3), 2, true},
		"never validated": {records(0, 0, 0), 1, false}, "first validated": {records(0, 0, 0.1), 1, false}, "inside of an epoch": {inside, 1, false},
	} {
		if got := Stopped(c.records, c.patience); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPatience ends a training where its validation has stalled, with the bytes of one that was interrupted, also in
// memory. More epochs do not continue it.
func TestPatience(t *testing.T) {
	all := toyRun(inMemory(t, "all"))
	all.Configuration.Epochs, all.Configuration.LearningRate = 12, 0.05
	train(t, all, toy(t))
	records, _, err := checkpoint.Folder(all.Checkpoints).Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stop := 1
	for !Stopped(records[:stop], 2) {
		stop++
	}
	if stop == len(records) {
		t.Fatal("the validation of this training never stalls")
	}
	run := all
	run.Checkpoints, run.History, run.Validation.Patience = inMemory(t, "run")+"/checkpoints", inMemory(t, "run")+"/training.jsonl", 2
	notice := ""
	last, err := Train(t.Context(), run, toy(t), func(p Progress) { notice += p.Notice })
	if err != nil || last.Epoch != stop || last.Valid.Selection() != records[stop-1].Valid.Selection() ||
		!strings.Contains(notice, "no better validation in 2 epochs") {
		t.Fatalf("epoch %d, %v, want the end after %d of the longer training; said %q", last.Epoch, err, stop, notice)
	}
	want := contents(t, run.Checkpoints)
	broken := run
	broken.Checkpoints, broken.History = inMemory(t, "broken")+"/checkpoints", inMemory(t, "broken")+"/training.jsonl"
	interrupted(t, broken, toy(t))
	sameFiles(t, want, contents(t, broken.Checkpoints))
	run.Configuration.Epochs = 20
	if r := train(t, run, toy(t)); r.Epoch != stop {
		t.Errorf("more epochs train up to %d", r.Epoch)
	}
	trained, err := InMemory(t.Context(), run, toy(t), nil)
	if err != nil || trained.Record.Epoch != stop {
		t.Errorf("in memory: epoch %d, %v; want %d", trained.Record.Epoch, err, stop)
	}
}
