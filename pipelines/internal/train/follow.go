package train

import (
	"context"
	"sync"
	"time"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/learn"
)

// followEvery is how often follow reads the folder.
const followEvery = 5 * time.Second

// follow shows the progress of a training on other machines, which this process sees only by its files,
// until the returned function is called.
func (t *training) follow(ctx context.Context, queries int64, show *display) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	epochs, _ := metrics.ReadHistory(ctx, t.e.Workspace.TrainingLog())
	shown := len(epochs) // of an earlier run
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-ctx.Done():
				t.showFiles(context.WithoutCancel(ctx), queries, shown, show)
				return
			case <-time.After(followEvery):
				shown = t.showFiles(ctx, queries, shown, show)
			}
		}
	})
	return func() {
		cancel()
		reading.Wait()
	}
}

// showFiles shows the lines of training.jsonl after those that were shown, and the newest checkpoint. It
// returns the number of lines. What cannot be read now is shown next time.
func (t *training) showFiles(ctx context.Context, queries int64, shown int, show *display) int {
	p := learn.Progress{Epochs: t.Epochs, QueriesPerEpoch: queries}
	epochs, err := metrics.ReadHistory(ctx, t.e.Workspace.TrainingLog())
	if err != nil {
		return shown
	}
	if len(epochs) < shown { // the epochs of a training that this one replaces are gone
		shown = 0
	}
	for ; shown < len(epochs); shown++ {
		p.Epoch, p.Queries, p.Finished = epochs[shown].Epoch, queries, &epochs[shown]
		show.update(p)
		p.Finished = nil
	}
	r, err := t.folder.Record(ctx, "last")
	if err != nil {
		return shown
	}
	p.Checkpoint, p.Epoch, p.Queries, p.Loss = r.Name(), r.Epoch, queries, r.Loss
	if r.Partial != nil {
		p.Queries, p.Loss = r.Partial.Queries, r.Partial.MeanLoss()
	}
	show.update(p)
	return shown
}
