package train

import (
	"context"
	"time"

	"tagnet/model/accelerator"
	"tagnet/model/budget"
	"tagnet/model/learn"
	"tagnet/stages/worker"
)

// finishFn ends an epoch of a training by several workers: it validates the average of the epoch's
// last round, and writes the epoch's checkpoint and its line of training.jsonl.
type finishFn struct {
	Params Params
	Task   learn.Task
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

// finish validates the average of the last round and ends the epoch, alone in this process, as validation
// takes the whole budget.
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
	if err := Forget(); err != nil { // validation takes other buffers
		return err
	}
	data, err := f.Params.ReadData(validation)
	if err != nil {
		return err
	}
	defer data.Close()
	data.Devices = accelerator.Process
	validated := int64(0)
	return learn.FinishEpoch(validation, run, data, f.Task, func(p learn.Progress) {
		if p.Resumed != "" { // it was reported when the training was
			return
		}
		validatedQueries.Inc(ctx, max(0, p.Validated-validated))
		validated = max(validated, p.Validated)
		session.tell(p)
	})
}
