package train

import (
	"fmt"
	"sync"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/device"
	"tagnet/model/learn"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// display shows a training: one bar over the queries of all epochs, and a line per epoch.
type display struct {
	environment *command.Environment
	// rate is the learning rate of the first epoch, for advice.
	rate float64
	// pretrained is true for a training from the weights of a file, which are the checkpoint before the first step.
	pretrained bool

	mu           sync.Mutex
	saidLeftOut  bool // queries that are left out
	saidDiverged bool // a training that diverges
	bar          *progress.Bar
	last         learn.Progress
}

// update shows the progress of the training.
func (d *display) update(p learn.Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bar != nil && p.Epochs != d.last.Epochs {
		d.bar.Of(int64(p.Epochs) * p.QueriesPerEpoch)
	}
	d.last = p
	done := int64(p.Epoch-1)*p.QueriesPerEpoch + p.Queries
	if d.bar == nil {
		d.bar = d.environment.Progress.Begin("training", int64(p.Epochs)*p.QueriesPerEpoch, "queries")
	}
	for _, text := range p.Damaged {
		d.environment.Progress.Print("%s: skipped", text)
	}
	// A notice, a resumption, the start, the end of an epoch, or counts: the first that applies.
	switch {
	case p.Notice != "":
		d.environment.Progress.Print("%s", p.Notice)
	case p.Resumed != "":
		d.bar.Resume(done)
		if !d.pretrained || p.Resumed != checkpoint.StepName(0) {
			d.environment.Progress.Print("resuming from %s", p.Resumed)
		}
		if p.OtherKernel != "" {
			d.environment.Progress.Print("the epoch before was trained with %s: its rounding differs in the last digits from that of this run",
				flagOf(p.OtherKernel))
		}
	case p.Start != nil:
		d.environment.Progress.Print("before the training: validation %s", validated(p.Start))
	case p.Finished != nil:
		d.bar.Set(int64(p.Epoch) * p.QueriesPerEpoch) // also without what was left out
		d.epoch(p)
	case p.Validated > 0:
		d.bar.Note("epoch %d of %d, validating %d%%", p.Epoch, p.Epochs, 100*p.Validated/max(1, p.Validations))
	default:
		d.bar.Update(done, "epoch %d of %d, loss %.4f", p.Epoch, p.Epochs, p.Loss)
	}
}

// flagOf returns the flag that selects a kernel variant or a kind of device.
func flagOf(kernelOrDevice string) string {
	if _, err := device.Parse(kernelOrDevice); err == nil {
		return "--device " + kernelOrDevice
	}
	return "--kernel " + kernelOrDevice
}

func (d *display) epoch(p learn.Progress) {
	e := p.Finished
	if e.Valid == nil {
		d.environment.Progress.Print("epoch %d of %d: loss %.4f, %.1fs", e.Epoch, p.Epochs, e.Loss, e.Seconds)
	} else {
		d.environment.Progress.Print("epoch %d of %d: loss %.4f, validation %s, %.1fs", e.Epoch, p.Epochs, e.Loss, validated(e.Valid), e.Seconds)
	}
	if e.LeftOut > 0 && !d.saidLeftOut {
		d.saidLeftOut = true
		d.environment.Progress.Print("%s of the %s training queries of epoch %d have no negatives, since all entities are known answers, and are left out, "+
			"in every epoch", progress.Count(e.LeftOut), progress.Count(e.Queries), e.Epoch)
	}
	if e.Diverged() && !d.saidDiverged {
		d.saidDiverged = true
		d.environment.Progress.Print("%s", diverged(*e, d.rate))
	}
}

// diverged returns what an epoch shows of a training that diverged, and which flag to change.
func diverged(e metrics.Epoch, rate float64) string {
	text := fmt.Sprintf("the training diverged: the loss is %.4g, and that of equal scores for all entities %.4f", e.Loss, e.Equal())
	if e.Valid != nil && e.Valid.AtChance() {
		text += fmt.Sprintf("; the validation MRR is not clearly above %.4f, that of random scores", e.Valid.Chance.MRR)
	}
	text += fmt.Sprintf("; try a --learning_rate below %g", rate)
	if e.Collapsed() {
		text += " or, if it has hardly begun to learn, more --epochs"
	}
	return text
}

// epochOf returns what the checkpoint of an epoch says of it.
func epochOf(r checkpoint.Record) metrics.Epoch {
	return metrics.Epoch{Epoch: r.Epoch, Loss: r.Loss, EqualScores: r.Configuration.EqualScores(), Valid: r.Valid}
}

// doubt returns why the best checkpoint may be useless, and a remedy. It returns "" for a checkpoint that is better
// than random scores.
func doubt(best checkpoint.Record) string {
	e := epochOf(best)
	switch {
	case e.Diverged():
		return diverged(e, best.Configuration.LearningRate)
	case e.Valid.AtChance():
		help := "the validation facts are too few to tell, or do not follow from the training facts"
		if e.Loss > 0.9*e.Equal() { // it learned little of the training facts, too
			help = fmt.Sprintf("try a --learning_rate below %g, or more --epochs", best.Configuration.LearningRate)
		}
		return fmt.Sprintf("this MRR is not clearly above %.4f, that of random scores: %s", e.Valid.Chance.MRR, help)
	}
	return ""
}

// validated returns the metrics of a validation as text; if it is a sample, with their 95% intervals.
func validated(v *metrics.Valid) string {
	mrr, hits := fmt.Sprintf("MRR %.4f", v.Selection().MRR), fmt.Sprintf("Hits@10 %.4f", v.Selection().Hits10)
	if s := v.Sample; s != nil && s.Intervals != nil {
		mrr += fmt.Sprintf(" (95%%: %v)", s.Intervals.MRR)
		hits += fmt.Sprintf(" (%v)", s.Intervals.Hits10)
	}
	return mrr + ", " + hits
}

// lost returns what a second interrupt loses.
func (d *display) lost() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last.Checkpoint == "" {
		return "the training is lost: no checkpoint is complete"
	}
	return fmt.Sprintf("the steps after %s are lost", d.last.Checkpoint)
}

func (d *display) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bar != nil {
		d.bar.End()
	}
}
