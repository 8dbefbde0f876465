package bundle

import (
	"context"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/engine/parts"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/bundle"
)

// mostSampled is how many parts --plan finds to estimate what all take.
const mostSampled = 16

// ready returns the function that checks that the jobs can run. With --plan it finds some parts before.
func (f *flags) ready(e *command.Environment, found *work) func(context.Context) error {
	w := command.Work{
		Jobs: func() ([]*beam.Pipeline, error) {
			return []*beam.Pipeline{Build(found.left[:min(found.perWave, len(found.left))], found.params)}, nil
		},
		Memory: f.memory, Count: count(found.files), Unit: "parts",
		Loads: []command.Load{{Step: "bundle.Find", Elements: count(found.files), Unit: "parts", Parts: int64(len(found.files))}},
	}
	return func(ctx context.Context) error {
		if e.Plan {
			if err := found.estimate(ctx, e, &w); err != nil {
				return err
			}
		}
		return e.Ready(w)(ctx)
	}
}

// The bytes of a part as elements, about.
const perEntity, perEdge = 20, 3

// sendingEntity is the seconds of a core, about, that a runner takes to send and join what the rounds want of
// each entity of a part, and its lists: 13 to 20 microseconds on graphs of 0.36 and 21.7 million facts with
// reaches of 1,000 and 2,000.
const sendingEntity = 16e-6

// estimate adds to the work what it takes, as a sample of parts did, and prints the sample.
func (found *work) estimate(ctx context.Context, e *command.Environment, w *command.Work) error {
	some := make([]bundle.File, min(mostSampled, len(found.files)))
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
	searching := sampled.Searching.Seconds() + sendingEntity*float64(sampled.Entities)
	w.Cost.Seconds = all*searching + float64(waves)*sampled.Reading.Seconds()
	w.Loads[0].Bytes = int64(all * float64(12*sampled.Entities+8*sampled.Edges))
	w.Loads[0].Compressed = true
	e.Say("%-10s %d parts: %s entities and %s edges each, %.1f ms of a core; the edges are read %d times for each of %d jobs", "sample", sampled.Parts,
		progress.Count(sampled.Entities/sampled.Parts), progress.Count(sampled.Edges/sampled.Parts), 1e3*searching/float64(sampled.Parts),
		parts.Rounds(found.params.Header.Layers)+1, waves)
	return nil
}

// finish prints the output folder and the next command. made reports whether this run wrote it.
func (f *flags) finish(ctx context.Context, e *command.Environment, found *work, made bool) error {
	h := found.params.Header
	e.Say("")
	e.Say("%s: %s parts of at most %s entities within %d hops", h.Split, progress.Count(count(found.files)), progress.Count(int64(h.Reach)), h.Layers)
	e.Say("")
	e.Outputs(made, found.params.Folder, storage.Join(found.params.Folder, parts.HeaderFile()))
	e.Next(f.next(ctx, e, h))
	return nil
}

// sampled is how many queries of a split --limit is advised for, where training has parts for some of its queries only.
const sampled = 2000

// next returns the command that reads the parts, or the one that makes the others that it reads.
func (f *flags) next(ctx context.Context, e *command.Environment, h parts.Header) workspace.Command {
	w, folder := e.Workspace, func(split string) string { return workspace.BundlesFolder(parts.Name(split, h.Reach, h.Layers)) }
	read := func(split string) (other parts.Header, there bool) {
		if w.Complete(ctx, folder(split)) {
			other, err := storage.ReadJSON[parts.Header](ctx, storage.Join(w.Path(folder(split)), parts.HeaderFile()))
			return other, err == nil
		}
		return other, false
	}
	part := []string{"--reach", strconv.Itoa(h.Reach)}
	if h.Layers != configuration.Default().Layers {
		part = append(part, "--layers", strconv.Itoa(h.Layers))
	}
	training, trains := read(parts.Train)
	valid, validates := read("valid")
	switch {
	case h.Split == "test":
		return w.Command("score", "--bundles").With(part[:2]...).With(limited("--limit", h.Limit)...)
	case !trains:
		return w.Command("bundle").With(part...).With("--queries_per_epoch", "N")
	case !validates && w.HasQueries(ctx, "valid"):
		if training.Drawn != nil {
			part = append(part, limited("--limit", sampled)...)
		}
		return w.Command("bundle", "--split", "valid").With(part...)
	}
	return w.Command("train", "--bundles").With(part...).With(drawn(training)...).With(limited("--valid_limit", valid.Limit)...)
}

// drawn returns the flags of a training that draws the queries that parts are for.
func drawn(h parts.Header) (flags []string) {
	usual := configuration.Default()
	if h.Remove != usual.Remove {
		flags = append(flags, "--remove", h.Remove)
	}
	d := h.Drawn
	if d == nil {
		return flags
	}
	flags = append(flags, "--queries_per_epoch", strconv.Itoa(d.QueriesPerEpoch), "--epochs", strconv.Itoa(d.Epochs))
	if d.BatchSize != usual.BatchSize {
		flags = append(flags, "--batch_size", strconv.Itoa(d.BatchSize))
	}
	if d.Seed != 0 {
		flags = append(flags, "--seed", strconv.FormatInt(d.Seed, 10))
	}
	return flags
}

// limited returns a flag with a number of queries, unless that is 0.
func limited(flag string, queries int64) []string {
	if queries == 0 {
		return nil
	}
	return []string{flag, strconv.FormatInt(queries, 10)}
}
