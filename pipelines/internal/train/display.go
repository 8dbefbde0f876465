package train

import (
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/learn"
)

// display shows a training: one bar over the queries of all epochs, and a line per epoch.
type display struct {
	e   *command.Environment
	bar *progress.Bar
}

func newDisplay(e *command.Environment) *display { return &display{e: e} }

// tell takes in how far the training is.
func (d *display) tell(p learn.Progress) {
	done := int64(p.Epoch-1)*p.Facts + p.Queries
	if d.bar == nil {
		d.bar = d.e.Progress.Begin("training", int64(p.Epochs)*p.Facts, "queries")
	}
	for _, text := range p.Damaged {
		d.e.Progress.Print("%s: passed over", text)
	}
	switch {
	case p.Resumed != "":
		d.bar.Resume(done)
		d.e.Progress.Print("going on from %s", p.Resumed)
		if p.OtherKernel != "" {
			d.e.Progress.Print("the epoch before was learned with --kernel %s: its rounding differs in the last digits from that of this run", p.OtherKernel)
		}
	case p.Finished != nil:
		d.epoch(p)
	case p.Validated > 0:
		d.bar.Note("epoch %d of %d, validating %d%%", p.Epoch, p.Epochs, 100*p.Validated/max(1, p.Validations))
	default:
		d.bar.Set(done)
		d.bar.Note("epoch %d of %d, loss %.4f", p.Epoch, p.Epochs, p.Loss)
	}
}

// epoch prints the line of a finished epoch.
func (d *display) epoch(p learn.Progress) {
	e := p.Finished
	if e.Valid == nil {
		d.e.Progress.Print("epoch %d of %d: loss %.4f, %.1fs", e.Epoch, p.Epochs, e.Loss, e.Seconds)
		return
	}
	d.e.Progress.Print("epoch %d of %d: loss %.4f, validation MRR %.4f, Hits@10 %.4f, %.1fs",
		e.Epoch, p.Epochs, e.Loss, e.Valid.Pessimistic.MRR, e.Valid.Pessimistic.Hits10, e.Seconds)
}

func (d *display) end() {
	if d.bar != nil {
		d.bar.End()
	}
}
