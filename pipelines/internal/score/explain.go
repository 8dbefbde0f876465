package score

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
	"tagnet/model/budget"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/score"
)

// explanationFlags are the flags that ask why.
type explanationFlags struct {
	explained, walks bool
	paths            int
}

const (
	pathsShown = 3  // by default, below an answer
	pathsKept  = 10 // in the files, or as many as are shown
	mostPaths  = 1000
)

func (f *explanationFlags) register(set *flag.FlagSet) {
	set.BoolVar(&f.explained, "explain", false, "also say why: for each answer to your own queries, or fact of a list, the paths that carried most of its score")
	set.BoolVar(&f.walks, "walks", false, "with --explain, take the best of all walks for paths: also those that visit an entity twice, or differ from a better one in inverse facts only")
	set.IntVar(&f.paths, "paths", pathsShown, "paths that --explain prints for each answer, 1 to 1000; the files have the best 10, or so many if that is more")
}

// choice returns what is recorded of the choice of paths, "" without explanations.
func (f *explanationFlags) choice() string {
	switch {
	case !f.explained:
		return ""
	case f.walks:
		return "walks"
	}
	return "simple"
}

// kept returns the number of paths of an answer in the files, 0 without explanations.
func (f *explanationFlags) kept() int {
	if !f.explained {
		return 0
	}
	return max(pathsKept, f.paths)
}

func (f *flags) checkExplanations() error {
	switch {
	case f.explained && !f.asks():
		return command.Usage("--explain needs --queries, --relation or --facts: it explains the answers to your own queries, and facts of a list")
	case f.walks && !f.explained:
		return command.Usage("--walks needs --explain")
	case f.paths < 1 || f.paths > mostPaths:
		return command.FlagError("paths", f.paths, "1 to 1000")
	}
	return nil
}

// explanationOutputs returns the outputs of --explain in the folder of answers.
func (a *scoring) explanationOutputs() []string {
	if !a.explained {
		return nil
	}
	return []string{score.ExplanationsFile, score.ExplanationsTable + "/"}
}

// answersToExplain returns about how many answers there will be, or facts.
func (a *scoring) answersToExplain() int64 {
	if a.facts != "" {
		return int64(a.most)
	}
	return a.distinct*int64(a.best) + a.asked.known
}

// divideExplanations adds to the cost and to the estimate of scoring those of --explain.
func (a *scoring) divideExplanations(ctx context.Context, sizes budget.Sizes, scoring budget.Estimate) budget.Estimate {
	if !a.explained {
		return scoring
	}
	c, answers := a.model.Configuration, a.answersToExplain()
	seconds, _ := a.e.Workspace.ScoreSeconds(ctx, sizes, c, a.about(), workload.ExplanationWork*answers)
	a.cost.Seconds, a.cost.AtMost = a.cost.Seconds+seconds, true
	return scoring.Explaining(sizes, c, a.kept(), answers, int64(workload.MaxPaths/a.kept()+a.best))
}

// explanationLoads returns what the steps of --explain work on, in so many parts. A path of a few steps takes about 60 bytes on WN18RR_v1.
func (a *scoring) explanationLoads(step string, parts int64) []command.Load {
	if !a.explained {
		return nil
	}
	const bytesPerPath = 60
	answers := a.answersToExplain()
	return []command.Load{{Step: step, Elements: answers, Unit: "answers to explain", Parts: parts, Bytes: bytesPerPath * answers * int64(a.kept())}}
}

// followExplanations shows behind a bar how many answers are explained, until stop is called.
func (a *scoring) followExplanations(ctx context.Context, bar *progress.Bar) (stop func()) {
	if !a.explained {
		return func() {}
	}
	return bar.Also("explaining", a.answersToExplain(), "answers").Follow(ctx, score.AnswersCounter)
}

// shownPaths returns the first paths to the answers that are printed, which are the first of the table: those of some queries, or facts.
func (a *scoring) shownPaths(ctx context.Context, folder string, queries map[int64]bool) (map[pathsOf][]parquet.Explanation, error) {
	if !a.explained {
		return nil, nil
	}
	shown := map[pathsOf][]parquet.Explanation{}
	enough := errors.New("the paths that are printed are read")
	err := parquet.EachPart(ctx, storage.Join(folder, score.ExplanationsTable), func(rows []parquet.Explanation) error {
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

// pathsOf is an answer to a query.
type pathsOf struct {
	query  int64
	entity string
}

// showPaths prints the paths below an answer.
func (a *scoring) showPaths(paths []parquet.Explanation) {
	for _, r := range paths {
		a.e.Say("        %6s  %s", model.FormatWeight(r.Weight), names.Escape(r.Text))
	}
}

// showExplanations prints what the weights are, and the outputs.
func (a *scoring) showExplanations(made bool, folder string) {
	if a.explained {
		a.e.Outputs(made, storage.Join(folder, score.ExplanationsFile), storage.Join(folder, score.ExplanationsTable))
	}
}

// sayWeights prints once what the weights of paths are.
func (a *scoring) sayWeights() {
	if a.explained {
		a.e.Say("\n%s", explanation.Weights(a.model.Configuration))
	}
}
