package ask

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
)

// show prints the answers and the outputs, and whether this run made them.
func (a *asking) show(ctx context.Context, made bool) error {
	folder := a.E.Workspace.Path(a.folder)
	shown, width := 0, 0
	var answers []parquet.Answer
	queries, answered := map[int64]bool{}, map[int64]bool{}
	err := scoring.FirstRows(ctx, storage.Join(folder, predict.AnswersTable), func(r parquet.Answer) bool {
		if r.Position == 1 {
			shown++
		}
		if shown > a.shown {
			return false
		}
		answers, queries[r.Query] = append(answers, r), true
		if plausible(r) {
			answered[r.Query] = true
			width = min(40, max(width, utf8.RuneCountInString(r.Entity)))
		}
		return true
	})
	if err != nil {
		return err
	}
	reasons, err := a.ReadReasons(ctx, folder, queries)
	if err != nil {
		return err
	}
	if shown > 0 {
		a.E.Say("\nscore and rank of the query / of the one in the other direction:")
	}
	// A query's answers stand below it, each with its reasons.
	left := int64(0)
	for _, r := range answers {
		if r.Position == 1 {
			note, err := a.oneAtMost(ctx, r)
			if err != nil {
				return err
			}
			a.E.Say("\n%s%s", query(r), note)
			if !answered[r.Query] {
				none, err := a.none(ctx, r)
				if err != nil {
					return err
				}
				a.E.Say("      %s", none)
			}
		}
		if !plausible(r) {
			left++
			continue
		}
		padding := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(r.Entity)))
		a.E.Say("%4d  %s%s  %s", r.Position, r.Entity, padding, a.notes(r))
		a.SayReasons(reasons, r.Query, r.Entity)
	}
	if left > 0 {
		answers := "answers that are not reached, or have"
		if left == 1 {
			answers = "answer that is not reached, or has"
		}
		a.E.Say("\nleft out above, but in the files: %s %s a probability under %v", progress.Count(left), answers, leastShown)
	}
	if shown > a.shown {
		a.E.Say("\n... and the answers to %s more queries in the files", progress.Count(a.distinct-int64(a.shown)))
	}
	if shown == 0 {
		a.E.Say("\nno query has an answer: every candidate is the query's source, or a known answer, which --known lists")
	} else {
		a.SayMeaning(reasons)
	}
	a.E.Say("")
	if err := a.sayAnswered(ctx, storage.Join(folder, predict.AnsweredFile)); err != nil {
		return err
	}
	a.SayUncertain(made)
	a.E.Outputs(made, storage.Join(folder, predict.AnswersFile))
	a.SayExplanations(made, folder)
	a.E.Outputs(made, storage.Join(folder, predict.AnswersTable))
	a.saySkipped()
	a.Next()
	return nil
}

// leastShown is the least probability of an answer that is printed.
const leastShown = .001

// plausible reports whether an answer is printed; the files have all. Those that no path reaches are
// alike to the model.
func plausible(r parquet.Answer) bool {
	return r.Known || r.Hops != hop.Column && (r.Probability == nil || *r.Probability >= leastShown)
}

// none says that no answer to the query of r is printed, and which flag lists those that are known.
func (a *asking) none(ctx context.Context, r parquet.Answer) (string, error) {
	known, err := a.View.Answers(ctx)
	if err != nil {
		return "", err
	}
	q, err := a.Loaded.Lookup(a.View).Query(ctx, r.Source, r.Relation, r.Direction == metrics.Head)
	if n := len(known.Of(q.Source, q.Relation)); err == nil && n > 0 {
		return fmt.Sprintf("none that is new; --known lists the known ones, too: %s", progress.Count(int64(n))), nil
	}
	return "none", err
}

// saySkipped accounts for every line of --queries, if some may be skipped.
func (a *asking) saySkipped() {
	if a.flags.onUnknown == skip {
		all := int64(len(a.file.queries))
		a.E.Say("answered %s of %s lines; %s skipped: %s", progress.Count(all-a.file.skipped), progress.Count(all), progress.Count(a.file.skipped),
			a.url(skippedFile))
	}
}

// sayAnswered says what it took to answer, and what is not listed.
func (a *asking) sayAnswered(ctx context.Context, url string) error {
	took, err := storage.ReadJSON[predict.Answered](ctx, url)
	if err != nil {
		return err
	}
	a.E.Say("asked backward: %s more propagations", progress.Count(took.Backward))
	if took.Unlisted > 0 {
		a.E.Say("known answers that are not listed: %s, of queries with more than %d", progress.Count(took.Unlisted), answer.MostKnown)
	}
	return nil
}

// notes returns what is printed beside an answer: its probability, and what the query and the one in the
// other direction say.
func (a *asking) notes(r parquet.Answer) string {
	text := a.probability(r.Probability)
	return text + fmt.Sprintf("score %8.4f / %8.4f  rank %5d / %5d", r.Score, r.OtherScore, r.Rank, r.OtherRank) + hopsAndKnown(r.Hops, r.Known, a.verdictOn(r))
}

// verdictOn returns what was said of an answer.
func (a *asking) verdictOn(r parquet.Answer) string {
	if r.Direction == metrics.Head {
		return a.Verdict(verdicts.Fact{Head: r.Entity, Relation: r.Relation, Tail: r.Source})
	}
	return a.Verdict(verdicts.Fact{Head: r.Source, Relation: r.Relation, Tail: r.Entity})
}

// probability returns what is printed of a probability, nothing where there are none.
func (a *asking) probability(p *float64) string {
	switch {
	case a.Probabilities.SHA256 == "":
		return ""
	case p == nil:
		return fmt.Sprintf("probability %-11s  ", "unknown")
	}
	return fmt.Sprintf("probability %-11s  ", probability.Text(*p))
}

// hopsAndKnown returns the last notes beside an answer.
func hopsAndKnown(hops int32, known bool, verdict string) (text string) {
	switch hops {
	case hop.Column:
		text = "  unreached"
	case 1:
		text = "  1 hop"
	default:
		text = fmt.Sprintf("  %d hops", hops)
	}
	switch {
	case verdict != "":
		text += "  judged " + verdict
	case known:
		text += "  known"
	}
	return text
}

// oneAtMost returns a note for a query of whose answers one is true at most, as far as the graph tells.
func (a *asking) oneAtMost(ctx context.Context, r parquet.Answer) (string, error) {
	estimator, err := a.Estimator()
	if estimator == nil || err != nil {
		return "", err
	}
	q, err := a.Loaded.Lookup(a.View).Query(ctx, r.Source, r.Relation, r.Direction == metrics.Head)
	if err != nil || !a.Model.OneAnswer(estimator, q) {
		return "", err
	}
	return "   one of these, at most", nil
}

// query returns the query of an answer as a person writes it.
func query(r parquet.Answer) string {
	return fmt.Sprintf("%s  %s  ?", r.Source, evaluation.QueryName(r.Direction, r.Relation))
}
