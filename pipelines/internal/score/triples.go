package score

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/evaluation"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/evaluate"
)

// ownTriples scores the triples of --queries, or the relations of its pairs.
type ownTriples struct{ *scoring }

// triples returns what scores triples or pairs, or nil if there are none.
func (a *scoring) triples() *ownTriples {
	if a.asked == nil || a.asked.own.given == workload.GivenQueries {
		return nil
	}
	return &ownTriples{a}
}

// triplesShown are the triples, or the pairs, that are printed.
const triplesShown = 20

// givenNames are what the lines of a file are called, and the folders of their scores.
var givenNames = map[workload.Given]string{workload.GivenQueries: queriesName, workload.GivenTriples: "triples", workload.GivenPairs: "pairs"}

// read sets what there is to score, and says what the lines are.
func (t *ownTriples) read() error {
	q, what := t.asked, givenNames[t.asked.own.given]
	for _, flag := range []struct {
		name  string
		given bool
	}{{"candidates", t.candidates != ""}, {"known", t.known}, {"explain", t.explained}} {
		if flag.given {
			return command.Usage("--%s is for queries, lines of source and relation; %s has %s", flag.name, t.queries, what)
		}
	}
	lines := q.queries - int64(q.own.duplicates)
	q.relations, t.best = min(t.best, len(t.loaded.Relations)), 0
	q.recorded.TopK, q.recorded.Triples, q.recorded.Answers = q.relations, parquet.TriplesVersion, ""
	if q.own.given == workload.GivenTriples {
		q.recorded.TopK = 0
		t.e.Say("triples: %s (in the graph, and scored without themselves: %s)", progress.Count(lines), progress.Count(q.own.inGraph))
	}
	q.lines, q.shown = lines, triplesShown
	q.queries = 2 * lines * int64(q.own.given.TriplesOf(len(t.loaded.Relations)))
	q.distinct = q.queries
	return nil
}

// estimate returns the memory that scoring takes.
func (t *ownTriples) estimate(s budget.Sizes) budget.Estimate {
	each, rows := int64(t.asked.own.given.TriplesOf(len(t.loaded.Relations))), int64(1)
	if t.asked.own.given == workload.GivenPairs {
		rows = int64(t.asked.relations)
	}
	return budget.Triples(s, t.model.Configuration, t.asked.lines, each, rows, workload.MaxRows)
}

// load returns what the step works on. A row takes 30 bytes on WN18RR_v1.
func (t *ownTriples) load() command.Load {
	const bytesPerRow = 30
	return command.Load{
		Step: "evaluate.triples", Elements: t.distinct, Unit: "queries",
		Parts: workload.Count(t.distinct, t.distinct, t.work()), Bytes: bytesPerRow * t.asked.lines,
	}
}

// show prints the least plausible triples, or the relations of the first pairs, and the outputs.
func (t *ownTriples) show(ctx context.Context, made bool) error {
	folder := t.e.Workspace.Path(t.asked.folder)
	rows, more, err := t.shown(ctx, storage.Join(folder, evaluate.TriplesTable))
	if err != nil {
		return err
	}
	if t.asked.own.given == workload.GivenTriples {
		t.e.Say("\nthe least plausible first, with the tail / the head as an answer:")
	} else {
		t.e.Say("\nthe best relations of each pair, with the tail / the head as an answer:")
	}
	width := 0
	for _, r := range rows {
		width = min(70, max(width, utf8.RuneCountInString(t.label(r))))
	}
	position := 0
	for i, r := range rows {
		position++
		if t.asked.own.given == workload.GivenPairs && (i == 0 || rows[i-1].Query != r.Query) {
			t.e.Say("\n%s  ?  %s", r.Head, r.Tail)
			position = 1
		}
		padding := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(t.label(r))))
		t.e.Say("%4d  %s%s  %s", position, t.label(r), padding, t.notes(r))
	}
	if more > 0 {
		t.e.Say("\n... and %s more %s in the files", progress.Count(more), givenNames[t.asked.own.given])
	}
	t.e.Say("")
	t.sayUncertain(made, t.asked.probabilities.Folder != "")
	t.e.Outputs(made, storage.Join(folder, evaluate.TriplesFile), storage.Join(folder, evaluate.TriplesTable))
	t.next()
	return nil
}

// shown returns the rows that are printed, and the number of triples or pairs that are not.
func (t *ownTriples) shown(ctx context.Context, table string) (rows []parquet.Triple, more int64, err error) {
	err = parquet.EachPart(ctx, table, func(part []parquet.Triple) error {
		for i, r := range part {
			if t.asked.own.given == workload.GivenTriples || i == 0 || part[i-1].Query != r.Query {
				more++
			}
			if t.asked.own.given == workload.GivenTriples || more <= triplesShown {
				rows = append(rows, r)
			}
		}
		if t.asked.own.given == workload.GivenTriples {
			slices.SortStableFunc(rows, evaluation.LeastPlausible)
			rows = rows[:min(len(rows), triplesShown)]
		}
		return nil
	})
	return rows, max(0, more-triplesShown), err
}

// label returns what a row is called: its triple, or its relation below a pair.
func (t *ownTriples) label(r parquet.Triple) string {
	if t.asked.own.given == workload.GivenPairs {
		return r.Relation
	}
	return fmt.Sprintf("%s  %s  %s", r.Head, r.Relation, r.Tail)
}

// notes returns what is printed beside a triple.
func (t *ownTriples) notes(r parquet.Triple) string {
	text := t.probability(r.Probability)
	return text + fmt.Sprintf("score %8.4f / %8.4f  rank %5d / %5d", r.TailScore, r.HeadScore, r.TailRank, r.HeadRank) + hopsAndKnown(r.Hops, r.Known)
}
