package learn

import (
	"context"
	"fmt"
	"time"

	"tagnet/formats/remedy"
	"tagnet/model/weights/parameters"
)

// Replan returns when a training of a number of epochs has to end, by the weights that it has: the zero time for more
// epochs than help.
type Replan func(ctx context.Context, weights *parameters.Set[float32]) (until func(epochs int) time.Time, err error)

// planned is the number of epochs of a training for a time when it began, of which some were complete.
type planned struct {
	epochs, complete int
	begun            time.Time
}

// replan gives a training for a time as many epochs as end in time, each as long as those so far. The last one is one
// that is validated anyway, so that --epochs makes the same.
func (l *learner) replan(ctx context.Context) error {
	done, every := l.epoch-1, max(1, l.Validation.Every)
	if l.Replan == nil || done%every != 0 || Stopped(l.finished, l.Validation.Patience) {
		return nil
	}
	if err := l.closeTrainers(); err != nil { // frees their buffers
		return err
	}
	until, err := l.Replan(ctx, l.parameters)
	if err != nil {
		return err
	}
	epoch := time.Since(l.planned.begun) / time.Duration(done-l.planned.complete)
	l.Configuration.Epochs = done
	for e := done + every; !time.Now().Add(time.Duration(e-done) * epoch).After(until(e)); e += every {
		l.Configuration.Epochs = e
	}
	return nil
}

// settle writes the number of epochs that a training for a time has made into the records of all of them, some of which
// may have been written when it was to have more, or fewer.
func (l *learner) settle(ctx context.Context) error {
	if l.Replan == nil {
		return nil
	}
	records, _, err := l.folder.Records(ctx) // with the checksums of what was written
	for _, r := range records {
		if err == nil && r.Configuration.Epochs != l.Configuration.Epochs {
			r.Configuration.Epochs = l.Configuration.Epochs
			err = l.folder.Amend(ctx, r)
		}
	}
	if l.Configuration.Epochs == l.planned.epochs {
		return err
	}
	p := l.progress(0)
	p.Notice = fmt.Sprintf("there was time for %d epochs, not %d: %v makes the same model", p.Epochs, l.planned.epochs, remedy.Flag("epochs", p.Epochs))
	l.report(p)
	return err
}
