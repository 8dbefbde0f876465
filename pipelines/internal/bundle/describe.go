package bundle

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	modelparts "tagnet/model/parts"
	"tagnet/model/subgraph"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
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
func (f *flags) finish(e *command.Environment, found *work, made bool) error {
	h := found.params.Header
	e.Say("")
	e.Say("%s: %s parts of at most %s entities within %d hops", h.Split, progress.Count(count(found.files)), progress.Count(int64(h.Reach)), h.Layers)
	e.Say("")
	e.Outputs(made, found.params.Folder, storage.Join(found.params.Folder, modelparts.HeaderFile()))
	return nil
}
