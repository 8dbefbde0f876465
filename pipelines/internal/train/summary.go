package train

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"tagnet/formats/storage"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
)

// summarize prints the best epoch, the outputs, whether this run made them, and the next command, or an error where the
// best epoch is of no use. before is the number of epochs before those of --resume --minutes, or 0.
func (d *decision) summarize(ctx context.Context, made bool, before int) error {
	e, w := d.e, d.e.Workspace
	best, err := d.folder.Record(ctx, "best")
	if err != nil {
		return err
	}
	e.Say("")
	d.describe(best)
	if before > 0 && best.Valid != nil && best.Epoch <= before {
		e.Say("the epochs after %d, of --minutes, are no better than epoch %d", before, best.Epoch)
	}
	outputs := []string{storage.Join(w.Checkpoints(), best.Name()+".safetensors"), storage.Join(w.Checkpoints(), checkpoint.BestFile), w.TrainingLog()}
	if url := d.fit.URL(); url != "" {
		outputs = append(outputs, url)
	}
	e.Say("")
	e.Outputs(made, outputs...)
	if e := epochOf(best); e.Exploded() {
		return command.Diverged(errors.New(diverged(e, best.Configuration.LearningRate)))
	}
	d.proposeNext(ctx, best)
	return nil
}

// describe says how good the best epoch is, by its validation metrics.
func (d *decision) describe(best checkpoint.Record) {
	e := d.e
	if v := best.Valid; v != nil {
		e.Say("best: epoch %d, validation MRR %.4f, Hits@1 %.4f, Hits@10 %.4f over %s queries (pessimistic ranks)",
			best.Epoch, v.Pessimistic.MRR, v.Pessimistic.Hits1, v.Pessimistic.Hits10, progress.Count(v.Queries))
		if s := v.Sample; s != nil && s.Intervals != nil {
			e.Say("  a sample of %s queries: the 95%% intervals are %v, %v and %v",
				progress.Count(s.Of), s.Intervals.MRR, s.Intervals.Hits1, s.Intervals.Hits10)
		}
	} else {
		e.Say("best: epoch %d, the last: there are no validation queries to choose by", best.Epoch)
	}
	if text := doubt(best); text != "" {
		e.Say("  %s", text)
	}
	if best.Start != nil && best.Valid != nil {
		e.Say("%s", d.gain(best))
	}
}

// gain says whether the best epoch is better than the weights of --from that the training began with,
// which were validated.
func (d *decision) gain(best checkpoint.Record) string {
	text := fmt.Sprintf("before the training: validation MRR %.4f, Hits@1 %.4f, Hits@10 %.4f",
		best.Start.Pessimistic.MRR, best.Start.Pessimistic.Hits1, best.Start.Pessimistic.Hits10)
	if best.Valid.Better(best.Start) {
		return text
	}
	text += "; no epoch is better than the weights of --from: use these"
	if best.Origin.Model == "" {
		return text
	}
	command := d.e.Workspace.Command("score", "--model", best.Origin.Model)
	if r := best.Configuration.Reach; r > 0 { // the model has none of its own
		command = command.With("--reach", strconv.Itoa(r))
	}
	return text + ", with " + command.String()
}

// proposeNext prints the commands that list new facts, unless there is no graph, and that evaluate the best checkpoint
// on test queries, if there are some.
func (d *decision) proposeNext(ctx context.Context, best checkpoint.Record) {
	w := d.e.Workspace
	var commands []workspace.Command
	scoring := w.Command("score")
	if d.bundles {
		scoring = scoring.With("--bundles")
	} else {
		commands = append(commands, w.ListStep(ctx))
	}
	switch evaluated, err := w.EvaluatedCheckpoint(ctx, w.Evaluation("test")); {
	case err == nil && evaluated.Weights != best.Weights.SHA256:
		commands = append(commands, scoring.With("--force"))
	case err == nil:
		commands = append(commands, w.Command("report"))
	case w.HasQueries(ctx, "test"):
		commands = append(commands, scoring)
	}
	d.e.Next(commands...)
}
