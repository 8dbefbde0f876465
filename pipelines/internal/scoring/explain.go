package scoring

import (
	"context"
	"errors"
	"flag"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/answer/explanation"
	"tagnet/model/answer/workload"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/predict"
)

// explainFlags are the flags that ask why.
type explainFlags struct {
	explain, walks bool
	paths          int
}

const (
	pathsShown = 3  // by default, below an answer
	pathsKept  = 10 // in the files, or as many as are shown
	mostPaths  = 1000
)

func (f *explainFlags) register(set *flag.FlagSet) {
	set.BoolVar(&f.explain, "explain", false, "also say why: for each answer or fact, the paths that carried most of its score")
	set.BoolVar(&f.walks, "walks", false,
		"explain by the best of all walks: also those that visit an entity twice, or differ from a better one in inverse facts only")
	set.IntVar(&f.paths, "paths", pathsShown, "paths that --explain prints for each answer, 1 to 1000; the files have the best 10, or so many if that is more")
}

func (f *explainFlags) check() error {
	f.explain = f.explain || f.walks
	if f.paths < 1 || f.paths > mostPaths {
		return command.FlagError("paths", f.paths, "1 to 1000")
	}
	return nil
}

// choice returns the choice of paths for the manifest: simple or walks, "" without explanations.
func (f *explainFlags) choice() string {
	switch {
	case !f.explain:
		return ""
	case f.walks:
		return "walks"
	}
	return "simple"
}

// Kept returns the number of paths of an answer in the files, 0 without explanations.
func (f *explainFlags) Kept() int {
	if !f.explain {
		return 0
	}
	return max(pathsKept, f.paths)
}

// Walks reports whether all walks are paths.
func (f *explainFlags) Walks() bool { return f.walks }

// ExplanationOutputs returns the outputs of --explain.
func (f *explainFlags) ExplanationOutputs() []string {
	if !f.explain {
		return nil
	}
	return []string{predict.ExplanationsFile, predict.ExplanationsTable + "/"}
}

// explainingWork returns how many queries take the time of the explanations.
func (a *Asking) explainingWork() int64 {
	if !a.explain {
		return 0
	}
	return workload.ExplanationWork * a.Explained
}

// ExplanationLoads returns the inputs of the steps of --explain, divided in parts. A path of a few steps takes about 60
// bytes on WN18RR_v1.
func (a *Asking) ExplanationLoads(step string, parts int64) []command.Load {
	if !a.explain {
		return nil
	}
	const bytesPerPath = 60
	return []command.Load{{Step: step, Elements: a.Explained, Unit: "answers to explain", Parts: parts, Bytes: bytesPerPath * a.Explained * int64(a.Kept())}}
}

// FollowExplanations shows behind a bar how many answers are explained, until stop is called.
func (a *Asking) FollowExplanations(ctx context.Context, bar *progress.Bar) (stop func()) {
	if !a.explain {
		return func() {}
	}
	return bar.Also("explaining", a.Explained, "answers").Follow(ctx, predict.AnswersCounter)
}

// Paths are the explanations of printed answers, by the number of the query, or the position of the
// fact, and the answer.
type Paths map[pathsOf][]parquet.Explanation

type pathsOf struct {
	query  int64
	entity string
}

// ReadPaths returns the first paths to the answers of queries, or to facts, that are printed: they are the
// first of the table.
func (a *Asking) ReadPaths(ctx context.Context, folder string, queries map[int64]bool) (Paths, error) {
	if !a.explain {
		return nil, nil
	}
	shown := Paths{}
	enough := errors.New("the paths that are printed are read")
	err := parquet.EachPart(ctx, storage.Join(folder, predict.ExplanationsTable), func(rows []parquet.Explanation) error {
		for _, r := range rows {
			if !queries[r.Query] {
				return enough
			}
			if key := (pathsOf{r.Query, r.Entity}); len(shown[key]) < a.paths {
				shown[key] = append(shown[key], r)
			}
		}
		return nil
	})
	if err != nil && err != enough {
		return nil, err
	}
	return shown, nil
}

// SayPaths prints the paths below an answer to a query.
func (a *Asking) SayPaths(paths Paths, query int64, entity string) {
	for _, r := range paths[pathsOf{query, entity}] {
		a.E.Say("        %6s  %s", model.FormatWeight(r.Weight), names.Escape(r.Text))
	}
}

// SayWeights prints once what the weights of paths are.
func (a *Asking) SayWeights() {
	if a.explain {
		a.E.Say("\n%s", explanation.Weights(a.Model.Configuration))
	}
}

// SayExplanations prints the outputs of --explain.
func (a *Asking) SayExplanations(made bool, folder string) {
	if a.explain {
		a.E.Outputs(made, storage.Join(folder, predict.ExplanationsFile), storage.Join(folder, predict.ExplanationsTable))
	}
}
