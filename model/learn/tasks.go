package learn

import (
	"context"
	"fmt"

	"tagnet/model/engine/device"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
)

// Position is the progress of a training by several workers.
type Position struct {
	// Checkpoint is the name of the newest checkpoint.
	Checkpoint string
	// Epoch is the current epoch, Batch the number of its batches trained so far.
	Epoch, Batch int
	// Step counts the solver's steps.
	Step int64
}

// PositionAt returns the position of a checkpoint. The zero Record's is the start of a training.
func PositionAt(r checkpoint.Record) Position {
	at := Position{Checkpoint: r.Name(), Epoch: r.Epoch + 1, Step: r.Step}
	switch {
	case r.Partial != nil:
		at.Epoch, at.Batch = r.Epoch, r.Partial.Step
	case r.Epoch == 0:
		at.Checkpoint = checkpoint.StepName(0)
	}
	return at
}

// Task is a round of a training by several workers, or the end of an epoch, which validates it. It
// starts from one checkpoint and writes the next.
type Task struct {
	From Position
	// Round has no batches at the end of an epoch.
	Round steps.Round
}

// EndsEpoch reports whether the task is the end of an epoch.
func (t Task) EndsEpoch() bool { return t.Round.Batches == 0 }

// To returns the position after the task.
func (t Task) To() Position {
	to := t.From
	if t.EndsEpoch() {
		to.Checkpoint = checkpoint.EpochName(to.Epoch)
		to.Epoch, to.Batch = to.Epoch+1, 0
		return to
	}
	to.Batch += t.Round.Batches
	to.Step += int64(t.Round.Steps())
	to.Checkpoint = checkpoint.StepName(to.Step)
	return to
}

// result returns the folder and the name of the checkpoint with which a shard ends the round.
func (t Task) result(folder checkpoint.Folder, shard int) (checkpoint.Folder, string) {
	return folder.Shard(shard), checkpoint.StepName(t.From.Step + int64(len(t.Round.Shard(shard))))
}

// Tasks returns the tasks of a training by several workers after a position, at most limit. keys are the keys of its
// facts. It returns none after the last epoch.
func Tasks(run Run, keys steps.Keys, at Position, limit int) []Task {
	var tasks []Task
	for at.Epoch <= run.Configuration.Epochs {
		batches := len(steps.Schedule(keys, run.Configuration, uint64(run.Seed), at.Epoch))
		for ended := false; !ended; {
			if len(tasks) == limit {
				return tasks
			}
			task := Task{From: at}
			if ended = at.Batch == batches; !ended {
				task.Round = steps.NextRound(run.Rounds, at.Epoch, at.Batch, batches)
			}
			tasks = append(tasks, task)
			at = task.To()
		}
	}
	return tasks
}

// Open prepares the folder of a training by several workers, and returns where it continues: after
// the newest complete checkpoint, or at one of the initial weights, which it writes. It reports the
// checkpoint from which a training resumes. Data has no devices in a process whose devices are not the workers'.
func Open(ctx context.Context, run Run, data Data, report func(Progress)) (Position, error) {
	if data.Devices == nil && run.Device.Mode != device.CPU {
		run.Device, report = device.Choice{}, withoutKernel(report)
	}
	l := newLearner(run, data, report)
	ctx = l.Lock.Guard(ctx)
	if err := l.Lock.Check(ctx); err != nil {
		return Position{}, err
	}
	if err := l.initialize(); err != nil {
		return Position{}, err
	}
	if err := l.resume(ctx); err != nil {
		return Position{}, err
	}
	if l.record.Epoch == 0 {
		l.begin()
		if err := l.savePartial(ctx); err != nil {
			return Position{}, err
		}
	}
	return PositionAt(l.record), nil
}

// withoutKernel returns a report without OtherKernel, since workers, not this process, compute.
func withoutKernel(report func(Progress)) func(Progress) {
	return func(p Progress) {
		p.OtherKernel = ""
		if report != nil {
			report(p)
		}
	}
}

// passed reports whether a training has come to the end of a task or farther. A runner that lost the
// result of a finished task runs it again, when the checkpoint that it starts from may be gone.
func passed(ctx context.Context, folder checkpoint.Folder, t Task) (bool, error) {
	records, _, err := folder.Records(ctx)
	if err != nil || len(records) == 0 {
		return false, err
	}
	last := records[len(records)-1]
	if t.EndsEpoch() {
		return last.Epoch > t.From.Epoch || last.Epoch == t.From.Epoch && last.Partial == nil, nil
	}
	return last.Step >= t.To().Step, nil
}

// RemoveRounds removes what a training by several workers keeps beside its checkpoints, after its last epoch.
func RemoveRounds(ctx context.Context, run Run) error {
	return checkpoint.Folder(run.Checkpoints).RemoveShards(run.Lock.Guard(ctx))
}

// FinishEpoch ends the epoch of a task, all of whose rounds are done, unless that was done before: it validates the
// average of the last round, and writes the epoch's checkpoint and its line of training.jsonl.
func FinishEpoch(ctx context.Context, run Run, data Data, t Task, report func(Progress)) error {
	l := newLearner(run, data, report)
	ctx = l.Lock.Guard(ctx)
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
