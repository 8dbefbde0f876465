package ask

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/evaluation"
	"tagnet/stages/predict"
)

// givenTriples scores the triples of --queries, or the relations of its pairs.
type givenTriples struct {
	*asking
	lines     int64 // distinct triples or pairs
	each      int64 // triples of a line
	relations int   // that are kept of a pair
}

// triplesShown are the triples, or the pairs, that are printed.
const triplesShown = 20

// givenNames name the lines of a file in messages, and the folders of their answers.
var givenNames = map[workload.TableKind]string{workload.GivenQueries: "queries", workload.GivenTriples: "triples", workload.GivenPairs: "pairs"}

// answer scores the lines, unless their scores are there.
func (t *givenTriples) answer(ctx context.Context) error {
	if err := t.count(); err != nil {
		return err
	}
	rows := 2 * t.lines // as read, and sorted
	if t.file.tableKind == workload.GivenPairs {
		rows *= int64(t.relations)
	}
	err := t.Divide(ctx, t.MostQueries(t.queries), t.queries, budget.Use{Task: "scoring triples on this graph", Rows: rows})
	if err != nil {
		return err
	}
	made, err := t.writeAnswers(ctx, answersJob{count: t.queries, unit: "queries", title: "scoring", loads: t.loads(), write: t.writeTables, build: t.build,
		recorded: t.recorded, outputs: []string{predict.TriplesFile, predict.TriplesTable + "/"}})
	if err != nil {
		return err
	}
	return t.show(ctx, made)
}

// count sets what there is to score, and says what the lines are.
func (t *givenTriples) count() error {
	what := givenNames[t.file.tableKind]
	for _, flag := range []struct {
		name  string
		isSet bool
	}{{"candidates", t.Candidates != nil}, {"known", t.flags.known}, {"explain", t.Kept() > 0}} {
		if flag.isSet {
			return command.Usage("--%s is for queries, lines of source and relation; %s has %s", flag.name, t.flags.queries, what)
		}
	}
	t.lines, t.each = t.distinct, int64(t.file.tableKind.TriplesOf(len(t.Loaded.Relations)))
	t.relations, t.Best = min(t.Best, len(t.Loaded.Relations)), 0
	if t.file.tableKind == workload.GivenTriples {
		t.relations, t.NeedsRules = 0, true
		t.E.Say("triples: %s (in the graph, and scored without themselves: %s)", progress.Count(t.lines), progress.Count(t.file.inGraph))
	}
	t.queries = 2 * t.lines * t.each
	return nil
}

// recorded returns the configuration as it is now, for the manifest.
func (t *givenTriples) recorded() any {
	r := t.record
	r.RecordedAsk = t.Recorded(parquet.Versions(parquet.Triple{}))
	r.TopK = t.relations
	return r
}

// build returns the Beam pipeline that scores triples or pairs.
func (t *givenTriples) build(held lock.Lock, announce string) *beam.Pipeline {
	p := t.params(held, announce)
	p.Relations = t.relations
	return command.BeamPipeline(predict.Triples, p)
}

// loads returns the inputs of the steps. A row takes 30 bytes on WN18RR_v1.
func (t *givenTriples) loads() []command.Load {
	const bytesPerRow = 30
	return []command.Load{
		{Step: "predict.cut", Elements: t.queries, Unit: "queries"},
		{
			Step: "predict.triples", Elements: t.queries, Unit: "queries",
			Parts: workload.Count(t.queries, t.queries, t.Queries(1).Work), Bytes: bytesPerRow * t.lines,
		},
	}
}

// show prints the least plausible triples, or the relations of the first pairs, and the outputs.
func (t *givenTriples) show(ctx context.Context, made bool) error {
	folder := t.E.Workspace.Path(t.folder)
	rows, more, err := t.shown(ctx, storage.Join(folder, predict.TriplesTable))
	if err != nil {
		return err
	}
	if t.file.tableKind == workload.GivenTriples {
		t.E.Say("\nthe least plausible of their relations first, with the tail / the head as an answer:")
	} else {
		t.E.Say("\nthe best relations of each pair, with the tail / the head as an answer:")
	}
	// Each pair begins a block with positions of its own.
	width := 0
	for _, r := range rows {
		width = min(70, max(width, utf8.RuneCountInString(t.label(r))))
	}
	position := 0
	for i, r := range rows {
		position++
		if t.file.tableKind == workload.GivenPairs && (i == 0 || rows[i-1].Query != r.Query) {
			t.E.Say("\n%s  ?  %s", r.Head, r.Tail)
			position = 1
		}
		padding := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(t.label(r))))
		t.E.Say("%4d  %s%s  %s", position, t.label(r), padding, t.notes(r))
		if r.Against != "" {
			t.E.Say("        against it: %s", names.Escape(r.Against))
		}
	}
	if more > 0 {
		t.E.Say("\n... and %s more %s in the files", progress.Count(more), givenNames[t.file.tableKind])
	}
	t.E.Say("")
	t.SayUncertain(made)
	t.E.Outputs(made, storage.Join(folder, predict.TriplesFile), storage.Join(folder, predict.TriplesTable))
	t.saySkipped()
	t.Next()
	return nil
}

// shown returns the rows that are printed, and the number of triples or pairs that are not.
func (t *givenTriples) shown(ctx context.Context, table string) (rows []parquet.Triple, more int64, err error) {
	err = parquet.EachPart(ctx, table, func(part []parquet.Triple) error {
		for i, r := range part {
			if t.file.tableKind == workload.GivenTriples || i == 0 || part[i-1].Query != r.Query {
				more++
			}
			if t.file.tableKind == workload.GivenTriples || more <= triplesShown {
				rows = append(rows, r)
			}
		}
		if t.file.tableKind == workload.GivenTriples {
			slices.SortStableFunc(rows, evaluation.LeastPlausible)
			rows = rows[:min(len(rows), triplesShown)]
		}
		return nil
	})
	return rows, max(0, more-triplesShown), err
}

// label returns a row's triple, or its relation below a pair.
func (t *givenTriples) label(r parquet.Triple) string {
	if t.file.tableKind == workload.GivenPairs {
		return r.Relation
	}
	return fmt.Sprintf("%s  %s  %s", r.Head, r.Relation, r.Tail)
}

// notes returns what is printed beside a triple.
func (t *givenTriples) notes(r parquet.Triple) string {
	text := t.probability(r.Probability)
	return text + fmt.Sprintf("score %8.4f / %8.4f  rank %5d / %5d", r.TailScore, r.HeadScore, r.TailRank, r.HeadRank) +
		hopsAndKnown(r.Hops, r.Known, t.Verdict(verdicts.Fact{Head: r.Head, Relation: r.Relation, Tail: r.Tail}))
}
