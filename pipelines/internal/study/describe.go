package study

import (
	"context"
	"fmt"
	"strconv"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// finish prints the counts, the output files and the next command. made reports whether this run wrote them.
func (f *messagesFlags) finish(ctx context.Context, e *command.Environment, made bool) error {
	folder := e.Workspace.Messages(f.split)
	s, err := counts.ReadSummary(ctx, folder)
	if err != nil {
		return err
	}
	e.Say("")
	within := ""
	if s.Reach > 0 {
		within = fmt.Sprintf(", each through at most %s entities", progress.Count(int64(s.Reach)))
	}
	e.Say("%s: messages of %s queries over %s edges%s", s.Split, progress.Count(s.Queries), progress.Count(s.Edges), within)
	e.Say("  %6s %6s %18s %20s %8s %20s %8s %20s %8s", "layers", "delta", "sent", "of all", "saved", "of not empty", "saved", "kept", "saved")
	for _, c := range s.Configurations {
		ofAll, ofNotEmpty := c.Saved()
		e.Say("  %6d %6d %18s %20s %7.2f%% %20s %7.2f%% %20s %7.2f%%", c.Layers, c.Delta, progress.Count(c.Sent()),
			progress.Count(c.NBFNet), 100*ofAll, progress.Count(c.NotEmpty()), 100*ofNotEmpty, progress.Count(c.Kept), 100*c.Decrease)
	}
	e.Say("  all: a message along every edge in every layer; not empty: those of them whose sender is reached")
	e.Say("  kept: what the window admits, empty messages included; the paper compares it with all")
	if s.AStar != nil {
		describeChoices(e, *s.AStar)
	}
	e.Say("")
	tables := []string{storage.Join(folder, counts.CountsTable)}
	if s.AStar != nil {
		tables = append(tables, storage.Join(folder, counts.AStarTable))
	}
	e.Outputs(made, append(tables, storage.Join(folder, counts.SummaryFile))...)
	e.Next(e.Workspace.Command("report"))
	return nil
}

// describeChoices prints the choices of a model of A*Net by layer.
func describeChoices(e *command.Environment, a counts.AStar) {
	e.Say("")
	e.Say("checkpoint %s: policy %s, %d layers, delta %d", a.Checkpoint, a.Policy, a.Layers, a.Delta)
	e.Say("  %6s %20s %20s %18s", "layer", "chosen by A*Net", "sent", "fewer")
	row := func(layer string, chosen, kept int64) {
		e.Say("  %6s %20s %20s %17.2f%%", layer, progress.Count(chosen), progress.Count(kept), 100*(1-float64(kept)/float64(max(1, chosen))))
	}
	for _, l := range a.ByLayer {
		row(strconv.Itoa(l.Layer), l.AStar, l.Kept)
	}
	row("all", a.AStar, a.Kept)
}
