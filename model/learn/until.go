package learn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tagnet/formats/remedy"
	"tagnet/model/weights/checkpoint"
)

// errLate ends an epoch whose time is up.
var errLate = errors.New("the time is up")

// late reports whether what takes so long would end after Run.Until. It never is before an epoch is complete.
func (l *learner) late(takes time.Duration) bool {
	n := len(l.finished)
	return n > 0 && l.finished[n-1].Partial == nil && !l.Until.IsZero() && time.Now().Add(takes).After(l.Until)
}

// endInTime ends the training with its last complete epoch. The steps after it are dropped: a resumed
// training makes them again.
func (l *learner) endInTime(ctx context.Context) error {
	last := l.finished[len(l.finished)-1]
	if l.folder != "" {
		if err := l.folder.RemoveAfter(ctx, last); err != nil {
			return err
		}
	}
	l.record, l.partial = last, checkpoint.Partial{}
	p := l.progress(0)
	same := "the same model"
	if last.Valid == nil && len(l.validationGraphs) > 0 { // a training that ends there validates it
		same = "the same weights, and validates those of this epoch, too"
	}
	p.Notice = fmt.Sprintf("the time is up after %d of %d epochs: this machine was slower than at the start; %v makes %s",
		last.Epoch, l.Configuration.Epochs, remedy.Flag("epochs", last.Epoch), same)
	l.report(p)
	return nil
}
