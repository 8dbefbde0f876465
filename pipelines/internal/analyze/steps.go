package analyze

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"tagnet/formats/manifest"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/distances"
	"tagnet/pipelines/internal/messages"
	"tagnet/pipelines/internal/workspace"
	counts "tagnet/stages/messages"
)

// leastHops is the smallest depth of the search for distances, the default of the pipeline distances.
const leastHops = 6

// step is an output folder that the analysis needs, and the pipeline that makes it.
type step struct {
	folder    string
	pipeline  command.Pipeline
	arguments []string
	// usable reports whether a complete folder has what the analysis needs; nil accepts any. --force
	// mends its errors.
	usable func(ctx context.Context, folder string) (bool, error)
}

// steps returns the steps of a split.
func (f *flags) steps(split string) []step {
	hops := max(leastHops, slices.Max(f.layerList))
	return []step{
		{workspace.DistancesFolder(split), distances.Pipeline(), append([]string{"--split", split, "--max_hops", fmt.Sprint(hops)}, f.budget()...), nil},
		{workspace.MessagesFolder(split), messages.Pipeline(), append([]string{"--split", split, "--layers", f.layers, "--deltas", f.deltas}, f.budget()...), f.counted},
	}
}

// run runs the pipeline unless its folder is complete and usable, and reports whether it ran.
func (s step) run(ctx context.Context, e *command.Environment) (bool, error) {
	w := e.Workspace
	if !e.Force {
		done, err := s.done(ctx, w)
		if err != nil {
			return false, err
		}
		if done {
			e.Say("%s is complete", w.Path(s.folder))
			return false, nil
		}
	}
	arguments := append([]string{"--workspace", w.Root()}, s.arguments...)
	if e.Force {
		arguments = append(arguments, "--force")
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

// done reports whether the folder is complete, of this graph, and usable. If it is damaged or of
// another graph, done returns an error with the command that overwrites it.
func (s step) done(ctx context.Context, w workspace.Workspace) (bool, error) {
	if _, err := manifest.Read(ctx, w.Path(s.folder)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := w.Require(ctx, s.folder, s.command(w)); err != nil || s.usable == nil {
		return err == nil, err
	}
	usable, err := s.usable(ctx, w.Path(s.folder))
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
