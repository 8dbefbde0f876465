package learn

import (
	"sync"

	"tagnet/formats/workspace/metrics"
)

// Progress is the state of a training, reported after each step.
type Progress struct {
	// Epoch is the current epoch, of Epochs.
	Epoch, Epochs int
	// Queries is the number of queries of the epoch trained so far, of QueriesPerEpoch.
	Queries, QueriesPerEpoch int64
	// Validated is the number of validation queries of the epoch ranked so far, of Validations;
	// 0 during training.
	Validated, Validations int64
	// Loss is the mean loss of the epoch so far.
	Loss float64
	// Checkpoint names the newest complete checkpoint; empty before the first.
	Checkpoint string
	// Finished is set once, at the end of an epoch.
	Finished *metrics.Epoch
	// Start is set once, after the validation of weights that were trained elsewhere, before the first step.
	Start *metrics.Valid
	// Resumed names, once, the checkpoint from which the training resumes, and Damaged lists the
	// errors of later ones that cannot be read.
	Resumed string
	Damaged []string
	// Notice, if not empty, names the CPU or devices when they are chosen or change, or the reason for an early end.
	Notice string
	// OtherKernel, beside Resumed, names the kernel variant or the kind of device of the epoch before, if
	// this training's is another.
	OtherKernel string
}

// progress describes the current epoch, after the given number of validation queries.
func (l *learner) progress(validated int64) Progress {
	p := Progress{
		Epoch: l.epoch, Epochs: l.Configuration.Epochs,
		Queries: l.partial.Queries, QueriesPerEpoch: l.queries,
		Validated: validated, Validations: l.validQueries,
	}
	p.Loss = l.partial.MeanLoss()
	if l.record.Epoch > 0 {
		p.Checkpoint = l.record.Name()
	}
	return p
}

// tally adds up what several goroutines have done and reports the sum, one at a time.
type tally struct {
	mu     sync.Mutex
	sum    int64
	report func(sum int64)
}

func (t *tally) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum += int64(n)
	t.report(t.sum)
}
