package train

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/bundle"
	"tagnet/stages/learn"
)

// bundled is what decides the content of bundles/SPLIT.
type bundled struct {
	Format int    `json:"format"`
	Split  string `json:"split"`
	Hops   int    `json:"hops"`
	Limit  int64  `json:"limit"`
	Memory int64  `json:"memory"` // MiB of a bundle
}

// bundle makes the bundles of the training and the validation queries, unless they are there.
func (f *flags) bundle(ctx context.Context, e *command.Environment, loaded *kg.KG, inputs map[string]string) (learn.Bundles, error) {
	var out learn.Bundles
	var err error
	train := bundled{Format: bundle.Format, Split: "train", Hops: f.configuration.Layers, Memory: f.plan.BundleBytes / budget.MiB}
	if out.Train, err = f.bundleSplit(ctx, e, loaded, inputs, train); err != nil {
		return out, err
	}
	if len(out.Train) == 0 {
		return out, fmt.Errorf("the train split has no queries: put facts into the dataset's train.txt and preprocess again")
	}
	valid := bundled{Format: bundle.Format, Split: "valid", Hops: f.configuration.Layers, Limit: f.validation.Limit, Memory: f.plan.BundleBytes / budget.MiB}
	if out.Valid, err = f.bundleSplit(ctx, e, loaded, inputs, valid); err != nil {
		return out, err
	}
	if len(out.Valid) == 0 {
		e.Say("there are no validation queries: the last epoch will count as the best")
	}
	return out, nil
}

func (f *flags) bundleSplit(ctx context.Context, e *command.Environment, loaded *kg.KG, inputs map[string]string, b bundled) ([]string, error) {
	w := e.Workspace
	queries, err := loaded.Queries(ctx, b.Split)
	if err != nil || len(queries) == 0 {
		return nil, err
	}
	stage := workspace.Stage{
		Workspace: w, Name: "train", Folder: "bundles/" + b.Split,
		Configuration: b, Inputs: inputs, Vocabulary: loaded.Vocabulary, Command: e.Again("resume"),
	}
	done, err := stage.Replace(ctx, false)
	if err != nil {
		return nil, err
	}
	url := w.Path(stage.Folder)
	if !done {
		distances, err := bundle.FindTables(ctx, w.Distances(b.Split), inputs, w.Command("go run ./pipelines/distances --split "+b.Split))
		if err != nil {
			return nil, err
		}
		bar := e.Progress.Begin("bundling "+b.Split, sources(queries, b.Limit), "sources")
		defer bar.End()
		defer bar.Follow(ctx, bundle.SourcesCounter)()
		if _, err := e.RunBeam(ctx, BuildBundles(url, bundle.Params{
			Graph: w.Graph(), Split: b.Split, Training: b.Split == "train", Limit: b.Limit, Hops: b.Hops,
			Distances: distances, Memory: b.Memory * budget.MiB, Threads: f.replicas,
		})); err != nil {
			stage.Abandon(!command.Local())
			return nil, err
		}
		if err := stage.Publish(ctx, map[string]int64{"queries": int64(len(queries))}); err != nil {
			return nil, err
		}
	}
	urls, err := storage.List(ctx, url)
	if err != nil {
		return nil, err
	}
	var bundles []string
	for _, url := range urls {
		if strings.HasSuffix(url, ".arrow") {
			bundles = append(bundles, url)
		}
	}
	return bundles, nil
}

// sources counts the sources of queries, which are sorted by them; 0, unknown, if not all of
// the queries are taken.
func sources(queries []tables.Query, limit int64) int64 {
	if limit > 0 {
		return 0
	}
	var n int64
	for i, q := range queries {
		if i == 0 || queries[i-1].Source != q.Source {
			n++
		}
	}
	return n
}

// BuildBundles makes the Beam pipeline that writes the bundles of a split into a folder.
func BuildBundles(folder string, p bundle.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	bundle.Save(s, folder, bundle.Bundles(s, p))
	return pipeline
}

// differences lists the fields in which two values differ as JSON.
func differences(there, here any) ([]string, error) {
	a, err := json.Marshal(there)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(here)
	if err != nil {
		return nil, err
	}
	return workspace.Differences(a, b)
}
