package configuration

import "fmt"

// MostWorkers is the most workers that may train one model.
const MostWorkers = 256

// Rounds divides the training of one model among several workers. In each round every worker makes
// LocalSteps steps from the same weights and the same state of the optimizer, each on batches of its
// own; the round ends with the mean over the workers. The zero Rounds is the training by one worker.
type Rounds struct {
	// Workers is the number of workers, at least 2, or 0 for one.
	Workers int `json:"workers,omitzero"`
	// LocalSteps is the number of steps that a worker makes in a round, at least 1, or 0 with Workers.
	LocalSteps int `json:"local_steps,omitzero"`
}

// NewRounds returns the rounds of numbers of workers and local steps. One worker has no rounds, so that
// its local steps make no difference. Numbers that are out of range are an error, whose lines begin
// with the name of the field in JSON.
func NewRounds(workers, localSteps int) (Rounds, error) {
	switch {
	case workers < 1 || workers > MostWorkers:
		return Rounds{}, fmt.Errorf("workers is %d: want 1 to %d", workers, MostWorkers)
	case localSteps < 1:
		return Rounds{}, fmt.Errorf("local_steps is %d: want 1 or more", localSteps)
	case workers == 1:
		return Rounds{}, nil
	}
	return Rounds{Workers: workers, LocalSteps: localSteps}, nil
}
