package learn

import (
	"context"
	"fmt"
	"time"

	"tagnet/model/budget"
	"tagnet/stages/worker"
)

// finishFn ends an epoch of a training by several workers: it validates the average of the epoch's
// last round, and writes the epoch's checkpoint and its line of training.jsonl.
type finishFn struct {
	Params Params
	Task   Task
}

// ProcessElement ends the epoch, unless that was done before, and emits when it ended. Its input, when
// the last round ended, is not needed: the time is in the round's checkpoint.
func (f *finishFn) ProcessElement(ctx context.Context, _ int64, emit func(int64)) error {
	session := f.Params.session()
	err := f.finish(ctx, session)
	session.setErr(err)
	if err != nil {
		return err
	}
	emit(time.Now().UnixNano())
	return nil
}

func (f *finishFn) finish(ctx context.Context, session *Session) error {
	run := f.Params.Run
	budget.Limit(run.Memory) // until the process ends
	validation, leave := session.join(ctx)
	defer leave()
	validation, exit, err := worker.Enter(validation, 1)
	if err != nil {
		return err
	}
	defer exit()
	Forget() // validation takes other buffers
	data, err := f.Params.read(validation)
	if err != nil {
		return err
	}
	validated := int64(0)
	l := newLearner(run, data, func(p Progress) {
		if p.Resumed != "" { // it was reported when the training was
			return
		}
		validatedQueries.Inc(ctx, max(0, p.Validated-validated))
		validated = max(validated, p.Validated)
		session.tell(p)
	})
	return l.endEpoch(run.Lock.Guard(validation), f.Task)
}

// endEpoch ends the epoch of a task, all of whose rounds are done.
func (l *learner) endEpoch(ctx context.Context, t Task) error {
	if done, err := passed(ctx, l.folder, t); done || err != nil {
		return err
	}
	if err := l.initialize(); err != nil {
		return err
	}
	if err := l.resume(ctx); err != nil {
		return err
	}
	if l.record.Name() != t.From.Checkpoint {
		return fmt.Errorf("the newest checkpoint of %s is %s, want %s, the last of epoch %d; every worker must see this folder",
			l.folder, l.record.Name(), t.From.Checkpoint, t.From.Epoch)
	}
	l.begin()
	return l.finishEpoch(ctx)
}
