package scoring

import (
	"context"
	"errors"
	"flag"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/answer/explanation"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/predict"
)

// explainFlags are the flags that ask why.
type explainFlags struct {
	explain bool
	Walks   bool // all walks are paths
	paths   int
}

const (
	pathsShown = 3  // by default, below an answer
	pathsKept  = 10 // in the files, or as many as are shown
	mostPaths  = 1000
)

func (f *explainFlags) register(set *flag.FlagSet) {
	set.BoolVar(&f.explain, "explain", false, "also say why: for each answer or fact, the rules of the graph that give it, or the paths that carried most "+
		"of its score")
	set.BoolVar(&f.Walks, "walks", false,
		"with rules, too, show what the model read: the best of all walks, also those that visit an entity twice, or differ in inverse facts only")
	set.IntVar(&f.paths, "paths", pathsShown, "rules and paths that --explain prints for each answer, 1 to 1000 each; the files have the best 10, or so "+
		"many if that is more")
}

func (f *explainFlags) check() error {
	f.explain = f.explain || f.Walks
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
	case f.Walks:
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

// ExplanationOutputs returns the outputs of --explain.
func (f *explainFlags) ExplanationOutputs() []string {
	if !f.explain {
		return nil
	}
	return []string{predict.ExplanationsFile, predict.ExplanationsTable + "/"}
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

// Reasons are the explanations of printed answers, by the number of the query, or the position of the
// fact, and the answer.
type Reasons map[reasonsOf][]parquet.Explanation

type reasonsOf struct {
	query  int64
	entity string
}

// ReadReasons returns the reasons of the answers to queries, or of facts, that are printed: they are the
// first of the table.
func (a *Asking) ReadReasons(ctx context.Context, folder string, queries map[int64]bool) (Reasons, error) {
	if !a.explain {
		return nil, nil
	}
	shown := Reasons{}
	return shown, FirstRows(ctx, storage.Join(folder, predict.ExplanationsTable), func(r parquet.Explanation) bool {
		key := reasonsOf{r.Query, r.Entity}
		if queries[r.Query] {
			shown[key] = append(shown[key], r)
		}
		return queries[r.Query]
	})
}

// FirstRows calls each for the rows of a table until it returns false.
func FirstRows[R parquet.Row](ctx context.Context, table string, each func(row R) bool) error {
	enough := errors.New("the rows that are printed are read")
	err := parquet.EachPart(ctx, table, func(rows []R) error {
		for _, row := range rows {
			if !each(row) {
				return enough
			}
		}
		return nil
	})
	if err == enough {
		return nil
	}
	return err
}

// SayReasons prints why an answer may be one, below it: so many rules, then so many paths, as --paths says.
func (a *Asking) SayReasons(reasons Reasons, query int64, entity string) {
	rules, paths := 0, 0
	for _, r := range reasons[reasonsOf{query, entity}] {
		switch {
		case r.Weight == nil:
			if rules++; rules <= a.paths {
				a.E.Say("        %s: so in %s of %s; here %s", names.Escape(r.Rule), progress.Count(r.Support), progress.Count(r.Cases), names.Escape(r.Text))
			}
		case paths < a.paths:
			if paths++; paths == 1 {
				a.E.Say("        what the model read:")
			}
			a.E.Say("        %6s  %s", model.FormatWeight(*r.Weight), names.Escape(r.Text))
		}
	}
}

// SayMeaning prints once what the numbers of the reasons are.
func (a *Asking) SayMeaning(reasons Reasons) {
	has := func(isPath bool) bool {
		for _, list := range reasons {
			if slices.ContainsFunc(list, func(r parquet.Explanation) bool { return isPath == (r.Weight != nil) }) {
				return true
			}
		}
		return false
	}
	if has(false) {
		a.E.Say("\nSo in 8 of 10: such a path joins 10 other pairs whose head has an answer, and the graph states 8 of them.")
	}
	if has(true) {
		a.E.Say("\n%s", explanation.Weights(a.Model.Configuration))
	}
}

// SayExplanations prints the outputs of --explain.
func (a *Asking) SayExplanations(made bool, folder string) {
	if a.explain {
		a.E.Outputs(made, storage.Join(folder, predict.ExplanationsFile), storage.Join(folder, predict.ExplanationsTable))
	}
}
