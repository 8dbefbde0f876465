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

// leastHops is how far distances are searched at least, as the pipeline distances does.
const leastHops = 6

// part is a folder that the analysis needs, and the pipeline that makes it.
type part struct {
	folder    string
	pipeline  command.Pipeline
	arguments []string
	// serves reports whether a folder that is whole will do; nil takes any. Its error is one that
	// --force mends.
	serves func(ctx context.Context, folder string) (bool, error)
}

// parts are those of a split.
func (f *flags) parts(split string) []part {
	hops := max(leastHops, slices.Max(f.layerList))
	return []part{
		{workspace.DistancesFolder(split), distances.Pipeline(), append([]string{"--split", split, "--max_hops", fmt.Sprint(hops)}, f.budget()...), nil},
		{workspace.MessagesFolder(split), messages.Pipeline(), append([]string{"--split", split, "--layers", f.layers, "--deltas", f.deltas}, f.budget()...), f.counted},
	}
}

// make runs the pipeline, unless its folder is complete and serves, and returns whether it did.
func (p part) make(ctx context.Context, e *command.Environment) (bool, error) {
	w := e.Workspace
	if !e.Force {
		done, err := p.done(ctx, w)
		if err != nil {
			return false, err
		}
		if done {
			e.Say("%s is complete", w.Path(p.folder))
			return false, nil
		}
	}
	arguments := append([]string{"--workspace", w.Root()}, p.arguments...)
	if e.Force {
		arguments = append(arguments, "--force")
	}
	if err := quiet(e).Embed(ctx, p.pipeline, arguments...); err != nil {
		return false, err
	}
	e.Wrote(w.Path(p.folder))
	return true, nil
}

// command returns the command line that makes the folder.
func (p part) command(w workspace.Workspace) workspace.Command {
	return w.Command(p.pipeline.Name, p.arguments...)
}

// done reports whether the folder is there, whole and of this graph, and serves. Where it is
// there but damaged or of another graph, the error says how it is made anew.
func (p part) done(ctx context.Context, w workspace.Workspace) (bool, error) {
	if _, err := manifest.Read(ctx, w.Path(p.folder)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if _, err := w.Require(ctx, p.folder, p.command(w)); err != nil || p.serves == nil {
		return err == nil, err
	}
	serves, err := p.serves(ctx, w.Path(p.folder))
	if err != nil {
		return false, &workspace.Unusable{Reason: err, Command: p.command(w)}
	}
	return serves, nil
}

// counted reports whether a messages/SPLIT folder has counts for all layers and deltas that are
// wanted.
func (f *flags) counted(ctx context.Context, folder string) (bool, error) {
	s, err := counts.ReadSummary(ctx, folder)
	if err != nil {
		return false, err
	}
	if len(s.ByLayer) == 0 {
		return false, fmt.Errorf("%s has no counts by layer, for an earlier version of tagnet wrote it", folder)
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
