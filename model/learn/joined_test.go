package learn

import (
	"fmt"
	"testing"
)

// joinedRun is a run of queries of several answers.
func joinedRun(run Run) Run {
	c := &run.Configuration
	c.AnswersPerQuery, c.Epochs, c.BatchSize = 4, 2, 64
	*c = c.Normalized()
	return run
}

// TestQueriesOfSeveralAnswers compares the checkpoints of trainings on queries of several answers: with other numbers
// of threads, stopped after every few steps, and in rounds, in any order of the shards.
func TestQueriesOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	_, data := hubs(t)
	first := joinedRun(toyRun(inMemory(t, "first")))
	one := train(t, first, data)
	want := contents(t, first.Checkpoints)
	alone := first
	alone.Configuration.AnswersPerQuery, alone.Configuration.RemovedShare = 0, 0
	alone.Checkpoints, alone.History = inMemory(t, "alone"), inMemory(t, "alone.jsonl")
	if each := train(t, alone, data); each.Messages < one.Messages*11/10 || each.Step != one.Step {
		t.Errorf("%d steps of %d messages, and with one answer each %d steps of %d", one.Step, one.Messages, each.Step, each.Messages)
	}
	for _, threads := range []int{1, 3} {
		run := joinedRun(toyRun(inMemory(t, fmt.Sprint(threads))))
		run.Threads = threads
		train(t, run, data)
		sameFiles(t, want, contents(t, run.Checkpoints))
	}
	broken := joinedRun(toyRun(inMemory(t, "broken")))
	if stops := interrupted(t, broken, data); stops < 3 {
		t.Errorf("stopped only %d times", stops)
	}
	sameFiles(t, want, contents(t, broken.Checkpoints))
	rounds, other := joinedRun(roundsRun(inMemory(t, "rounds"), 2, 2)), joinedRun(roundsRun(inMemory(t, "other"), 2, 2))
	trainRounds(t, rounds, data, nil)
	trainRounds(t, other, data, func(shards []int) { shards[0], shards[len(shards)-1] = shards[len(shards)-1], shards[0] })
	sameFiles(t, contents(t, rounds.Checkpoints), contents(t, other.Checkpoints))
}
