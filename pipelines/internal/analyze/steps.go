package analyze

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"tagnet/formats/counts"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/distances"
	"tagnet/pipelines/internal/messages"
	"tagnet/pipelines/internal/workspace"
)

// leastHops is the smallest depth of the search for distances, the default of the pipeline distances.
const leastHops = 6

// step is an output folder that the analysis needs, and the pipeline that makes it.
type step struct {
	split, folder string
	pipeline      command.Pipeline
	arguments     []string
	// usable reports whether a complete folder has what the analysis needs; nil accepts any. --force
	// mends its errors.
	usable func(ctx context.Context, folder string) (bool, error)
	// plan returns the error of a --memory that is too small for a split with so many sources.
	plan func(ctx context.Context, e *command.Environment, m manifest.Manifest, sources int) error
	// done reports that the folder is complete and usable and is not made again.
	done bool
}

// steps returns the steps of a split.
func (f *flags) steps(w workspace.Workspace, split string) []step {
	hops := max(leastHops, slices.Max(f.layerList))
	return []step{
		{
			split: split, folder: workspace.DistancesFolder(split), pipeline: distances.Pipeline(),
			arguments: append([]string{"--split", split, "--max_hops", fmt.Sprint(hops)}, f.budget()...),
			plan: func(ctx context.Context, e *command.Environment, m manifest.Manifest, sources int) error {
				return distances.Plan(ctx, e, m, split, hops, f.memory, sources)
			},
		},
		{
			split: split, folder: w.MessagesFolder(split), pipeline: messages.Pipeline(),
			arguments: append([]string{"--split", split, "--layers", f.layers, "--deltas", f.deltas}, f.budget()...),
			usable:    f.counted,
			plan: func(ctx context.Context, e *command.Environment, m manifest.Manifest, sources int) error {
				return messages.Plan(ctx, e, m, split, f.layerList, f.deltaList, f.memory, sources)
			},
		},
	}
}

// allSteps returns the steps of all splits, marked if they are done; --force repeats all.
func (f *flags) allSteps(ctx context.Context, e *command.Environment) ([]step, error) {
	var all []step
	for _, split := range f.splitList {
		for _, s := range f.steps(e.Workspace, split) {
			if !e.Force {
				var err error
				if s.done, err = s.complete(ctx, e.Workspace); err != nil {
					return nil, err
				}
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// run runs the pipeline unless the step is done, and reports whether it ran.
func (s step) run(ctx context.Context, e *command.Environment) (bool, error) {
	w := e.Workspace
	if s.done {
		e.Say("%s is complete", w.Path(s.folder))
		return false, nil
	}
	arguments := append([]string{"--workspace", w.Root()}, s.arguments...)
	if e.Force {
		arguments = append(arguments, "--force")
	}
	if e.Planned() {
		return false, e.Embed(ctx, s.pipeline, arguments...)
	}
	if err := quiet(e).Embed(ctx, s.pipeline, arguments...); err != nil {
		return false, err
	}
	e.Wrote(w.Path(s.folder))
	return true, nil
}

// command returns the command line that makes the folder.
func (s step) command(w workspace.Workspace) workspace.Command {
	return w.Command(s.pipeline.Name, s.arguments...)
}

// complete reports whether the folder is complete, of this graph, and usable. If it is damaged or of
// another graph, complete returns an error with the command that overwrites it.
func (s step) complete(ctx context.Context, w workspace.Workspace) (bool, error) {
	if _, err := manifest.Read(ctx, w.Path(s.folder)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := w.Require(ctx, s.folder, s.command(w)); err != nil || s.usable == nil {
		return err == nil, err
	}
	usable, err := s.usable(ctx, w.Path(s.folder))
	if errors.Is(err, storage.ErrUnavailable) {
		return false, err
	}
	if err != nil {
		return false, &workspace.Unusable{Reason: err, Command: s.command(w)}
	}
	return usable, nil
}

// counted reports whether a messages/SPLIT folder has counts for all layers and deltas of the flags.
func (f *flags) counted(ctx context.Context, folder string) (bool, error) {
	s, err := counts.ReadSummary(ctx, folder)
	if err != nil {
		return false, err
	}
	if len(s.ByLayer) == 0 {
		return false, fmt.Errorf("%s has no counts by layer, because an earlier version of tagnet wrote it", folder)
	}
	for _, layers := range f.layerList {
		for _, delta := range f.deltaList {
			if !slices.ContainsFunc(s.ByLayer, func(l counts.LayerSum) bool { return l.Layers == layers && l.Delta == delta }) {
				return false, nil
			}
		}
	}
	return true, nil
}
