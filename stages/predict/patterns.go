package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/pattern"
	"tagnet/model/budget"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&matchesFn{})
	beam.RegisterDoFn(&matchesTextFn{})
}

// The names of the outputs of Matches, and of the file of patterns beside them, one a line.
const (
	MatchesTable = "matches"
	MatchesFile  = "matches.tsv"
	PatternsFile = "patterns.txt"
)

// matchesHeading is the first line of matches.tsv.
const matchesHeading = "pattern\ttext\tposition\tentity\tprobability\tlog_odds\tfacts\tcut\n"

// MatchParams are the parameters of Matches.
type MatchParams struct {
	// AskParams has the folder, with PatternsFile, and as Best the number of answers of a pattern.
	AskParams
	// Patterns is the number of lines. Answer is the variable of the answer, "" for the first one of each pattern.
	Patterns int
	Answer   string
	// Bindings is that of pattern.Matcher. Stated takes stated facts alone.
	Bindings int
	Stated   bool
}

// patternsTogether is the number of patterns that a worker answers at a time.
const patternsTogether = 4

// Matches answers patterns and writes the answers. Output: the URL of matches.tsv.
func Matches(s beam.Scope, p MatchParams) beam.PCollection {
	s = s.Scope("predict.Matches")
	var shards []Shard
	of := (p.Patterns + patternsTogether - 1) / patternsTogether
	for i := range of {
		shards = append(shards, Shard{i, of, i * patternsTogether, min(p.Patterns, (i+1)*patternsTogether)})
	}
	written := beam.ParDo(s, &matchesFn{Params: p}, beam.Reshuffle(s, beam.CreateList(s, shards)))
	return beam.ParDo(s, &matchesTextFn{Params: p}, beam.Combine(s, sum, written))
}

type matchesFn struct{ Params MatchParams }

// ProcessElement answers the patterns of a shard, writes its part and emits 1.
func (f *matchesFn) ProcessElement(ctx context.Context, shard Shard, emit func(int64)) error {
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	text, err := storage.ReadText(ctx, f.Params.url(PatternsFile))
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	var rows []parquet.Match
	for number := shard.From; number < shard.To; number++ {
		found, err := f.rows(ctx, int64(number), lines[number])
		if err != nil {
			return err
		}
		rows = append(rows, found...)
		askedRows.Inc(ctx, 1)
	}
	if err := parquet.Write(f.Params.Lock.Guard(ctx), parquet.PartFile(f.Params.url(MatchesTable), shard.Number, shard.Of), rows); err != nil {
		return err
	}
	emit(1)
	return nil
}

// errNoProbabilities is the error of patterns where nothing is fitted.
var errNoProbabilities = errors.New("patterns need probabilities, and the graph has too few facts to fit them to")

func (f *matchesFn) rows(ctx context.Context, number int64, text string) (rows []parquet.Match, err error) {
	m := &pattern.Matcher{Bindings: f.Params.Bindings, Best: f.Params.Best, Done: askedBackward.Adder(ctx)}
	if !f.Params.Stated {
		if m.Estimator, err = f.Params.Estimator(ctx); err != nil {
			return nil, err
		}
		if m.Estimator == nil {
			return nil, remedy.Errorf(remedy.Do("take stated facts alone, with %v", remedy.Flag("stated")), "%w", errNoProbabilities)
		}
	}
	err = f.Params.Use(ctx, func(opened *answer.Model) error {
		m.Model = opened
		if m.Known, err = opened.View.Answers(ctx); err != nil {
			return err
		}
		p, err := pattern.New(ctx, opened.KG.Lookup(opened.View), text, f.Params.Answer)
		if err != nil {
			return err
		}
		matches, cuts, err := m.Match(ctx, p)
		var cut []string
		for _, c := range cuts {
			cut = append(cut, c.String())
		}
		for i, one := range matches {
			named := p.Named(opened, one)
			rows = append(rows, parquet.Match{
				Pattern: number, Text: text, Position: int32(i + 1), Entity: named.Entity, Probability: named.Probability, LogOdds: named.LogOdds,
				Facts: named.Text(), Cut: strings.Join(cut, ", "),
			})
		}
		return err
	})
	return rows, err
}

type matchesTextFn struct{ Params MatchParams }

// ProcessElement writes matches.tsv when all parts are written.
func (f *matchesTextFn) ProcessElement(ctx context.Context, parts int64, emit func(string)) error {
	url := f.Params.url(MatchesFile)
	if err := parquet.WriteText(f.Params.Lock.Guard(ctx), url, matchesHeading, f.Params.url(MatchesTable), int(parts), matchLines); err != nil {
		return err
	}
	emit(url)
	return nil
}

// matchLines returns lines of matches.tsv: one for each answer.
func matchLines(rows []parquet.Match) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%d\t%s\t%.6g\t%.6g\t%s\t%s\n", r.Pattern, names.Field(r.Text), r.Position, names.Field(r.Entity), r.Probability,
			r.LogOdds, names.Field(r.Facts), r.Cut)
	}
	return text.Bytes()
}
