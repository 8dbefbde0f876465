package bundle

import (
	"context"
	"flag"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	modelparts "tagnet/model/parts"
	"tagnet/model/subgraph"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/parts"
)

// mostSampled is how many parts --plan finds to estimate what all take.
const mostSampled = 16

// ready returns what checks that the jobs can run. With --plan it finds some parts before.
func (f *flags) ready(e *command.Environment, found *work) func(context.Context) error {
	w := command.Work{
		Jobs: func() ([]*beam.Pipeline, error) {
			return []*beam.Pipeline{Build(found.left[:min(found.perWave, len(found.left))], found.params)}, nil
		},
		Memory: f.memory, Count: count(found.files), Unit: "parts",
		Loads: []command.Load{{Step: "parts.Find", Elements: count(found.files), Unit: "parts", Parts: int64(len(found.files))}},
	}
	return func(ctx context.Context) error {
		if e.Planned() {
			if err := found.estimate(ctx, e, &w); err != nil {
				return err
			}
		}
		return e.Ready(w)(ctx)
	}
}

// The bytes of a part as elements, about.
const perEntity, perEdge = 20, 3

// estimate adds to the work what it takes, as a sample of parts did, and prints the sample.
func (found *work) estimate(ctx context.Context, e *command.Environment, w *command.Work) error {
	some := make([]parts.File, min(mostSampled, len(found.files)))
	for i := range some {
		some[i] = found.files[i*len(found.files)/len(some)]
	}
	sampled, err := found.params.Sample(ctx, some)
	if err != nil {
		return err
	}
	all := float64(count(found.files)) / float64(sampled.Parts)
	found.adapt(perEntity*sampled.Entities+perEdge*sampled.Edges, sampled.Parts)
	waves := (len(found.files) + found.perWave - 1) / found.perWave
	w.Cost.Seconds = all*sampled.Searching.Seconds() + float64(waves)*sampled.Reading.Seconds()
	w.Loads[0].Bytes = int64(all * float64(12*sampled.Entities+8*sampled.Edges))
	w.Loads[0].Compressed = true
	e.Say("%-10s %d parts: %s entities and %s edges each, %.1f ms of a core; the edges are read %d times for each of %d jobs", "sample", sampled.Parts,
		progress.Count(sampled.Entities/sampled.Parts), progress.Count(sampled.Edges/sampled.Parts), 1e3*sampled.Searching.Seconds()/float64(sampled.Parts),
		subgraph.Rounds(found.params.Header.Layers)+1, waves)
	return nil
}

// finish prints the output folder and the next command. made reports whether this run wrote it.
func (f *flags) finish(ctx context.Context, e *command.Environment, found *work, made bool) error {
	h := found.params.Header
	e.Say("")
	e.Say("%s: %s parts of at most %s entities within %d hops", h.Split, progress.Count(count(found.files)), progress.Count(int64(h.Reach)), h.Layers)
	e.Say("")
	e.Outputs(made, found.params.Folder, storage.Join(found.params.Folder, modelparts.HeaderFile()))
	e.Next(f.next(ctx, e, h))
	return nil
}

// next returns the command that reads the parts, or the one that makes the others that it reads.
func (f *flags) next(ctx context.Context, e *command.Environment, h modelparts.Header) workspace.Command {
	w := e.Workspace
	missing := func(split string) bool {
		return w.HasQueries(ctx, split) && !w.Complete(ctx, workspace.BundlesFolder(modelparts.Name(split, h.Reach, h.Layers)))
	}
	limit := func(flag string) (flags []string) {
		if h.Limit > 0 {
			flags = []string{flag, strconv.FormatInt(h.Limit, 10)}
		}
		return flags
	}
	switch part := given(e, hyperparameters[:2]); {
	case h.Split == "test":
		return w.Command("score", "--bundles").With(limit("--limit")...)
	case h.Split == "valid" && missing(modelparts.Train):
		return w.Command("bundle").With(part...)
	case h.Split == modelparts.Train && missing("valid"):
		return w.Command("bundle", "--split", "valid").With(part...)
	}
	return w.Command("train", "--bundles").With(given(e, append(hyperparameters, "seed"))...).With(limit("--valid_limit")...)
}

// given returns those of some flags that this run was given.
func given(e *command.Environment, names []string) (flags []string) {
	e.Flags.Visit(func(g *flag.Flag) {
		if slices.Contains(names, g.Name) {
			flags = append(flags, "--"+g.Name, g.Value.String())
		}
	})
	return flags
}
