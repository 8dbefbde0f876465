package ask

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/pattern"
	"tagnet/model/answer/probability"
	"tagnet/model/budget"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/predict"
)

type patternFlags struct {
	pattern, patterns, variable string
	bindings                    int
	stated                      bool
}

func (f *patternFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.pattern, "pattern", "", "`TEXT` of a query of several steps, atoms relation(term, term) between commas, not before a negated one; a "+
		"term is a name, or ? and a variable's: lives_in(?who, ?city), not located_in(?city, \"St. Lucia\")")
	set.StringVar(&f.patterns, "patterns", "", "`file` of patterns, one in a line, or - for standard input")
	set.StringVar(&f.variable, "answer", "", "`variable` of a pattern that is sought; default the first one")
	set.IntVar(&f.bindings, "bindings", pattern.DefaultBindings, "best entities of each other variable of a pattern that are followed, 1 or more")
	set.BoolVar(&f.stated, "stated", false, "answer patterns from stated facts alone, without the model")
}

// asks reports whether there is a pattern.
func (f *patternFlags) asks() bool { return f.pattern != "" || f.patterns != "" }

func (f *patternFlags) check(e *command.Environment) error {
	if err := cmp.Or(e.NotEmpty("atoms, such as likes(?x, tea)", "pattern"), e.NotEmpty("a file of patterns", "patterns")); err != nil {
		return err
	}
	if f.bindings < 1 {
		return command.FlagError("bindings", fmt.Sprint(f.bindings), "1 or more")
	}
	if f.pattern != "" && f.patterns != "" {
		return command.Usage("--pattern asks one pattern, --patterns those of a file: give one of the two")
	}
	others, given := []string{"answer", "bindings", "stated"}, "is for --pattern and --patterns"
	if f.asks() {
		others, given = []string{"queries", "relation", "sources", "candidates", "known", "on_unknown", "explain", "graph"}, "is not for a pattern"
	}
	for _, name := range others {
		if e.HasFlag(name) {
			return command.Usage("--%s %s", name, given)
		}
	}
	f.variable = strings.TrimPrefix(f.variable, "?")
	return nil
}

type givenPatterns struct {
	*asking
	texts []string
	atoms int // of all
}

// recordedPatterns is the configuration of the answers of patterns, for the manifest.
type recordedPatterns struct {
	scoring.RecordedAsk
	// Patterns is the SHA-256 of their lines.
	Patterns string `json:"patterns"`
	Variable string `json:"answer,omitempty"`
	Bindings int    `json:"bindings,omitempty"`
	Stated   bool   `json:"stated,omitempty"`
}

// answer answers the patterns, unless their answers are there.
func (g *givenPatterns) answer(ctx context.Context) error {
	if err := g.read(ctx); err != nil {
		return err
	}
	g.folder = g.E.Workspace.AnswersFolder(g.Output("patterns"))
	bindings := min(g.flags.bindings, g.View.Graph.Entities)
	work := int64(g.atoms) * int64(bindings) * (3 + probability.DefaultK)
	if g.flags.stated {
		g.Fit, work = nil, int64(g.atoms)
	}
	held := min(int64(bindings)*int64(bindings), pattern.MostPairs)
	err := g.Divide(ctx, held, work, budget.Use{Task: "answering patterns on this graph", Rows: 2 * held})
	if err != nil {
		return err
	}
	n := int64(len(g.texts))
	loads := []command.Load{{Step: "predict.matches", Elements: n, Unit: "patterns"}}
	made, err := g.writeAnswers(ctx, answersJob{count: n, unit: "patterns", title: "answering", loads: loads, write: g.writeTexts, build: g.build,
		recorded: g.recorded, outputs: []string{predict.MatchesFile, predict.MatchesTable + "/", predict.PatternsFile}})
	if err != nil {
		return err
	}
	return g.show(ctx, made)
}

// lineEnds makes one line of several, and leaves other spaces, which names may have.
var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// read reads the patterns, and checks them.
func (g *givenPatterns) read(ctx context.Context) error {
	if g.flags.pattern != "" {
		return g.add(ctx, strings.TrimSpace(lineEnds.Replace(g.flags.pattern)))
	}
	_, err := scoring.ReadOnce(ctx, "patterns", g.flags.patterns, func(name string, r io.Reader) (none struct{}, err error) {
		err = triples.ReadLines(name, "patterns", r, func(number int, line []byte) error {
			text := strings.TrimSpace(string(line))
			if text == "" {
				return nil
			}
			if err := g.add(ctx, text); err != nil {
				return fmt.Errorf("%s:%d: %w", name, number, err)
			}
			return nil
		}, func(b triples.BadLine) error { return b })
		if err != nil && !errors.Is(err, triples.ErrEmpty) {
			return none, err
		}
		if len(g.texts) == 0 {
			return none, fmt.Errorf("%s has no pattern", name)
		}
		return none, nil
	})
	return err
}

func (g *givenPatterns) add(ctx context.Context, text string) error {
	p, err := pattern.New(ctx, g.Loaded.Lookup(g.View), text, g.flags.variable)
	if err == nil {
		g.texts, g.atoms = append(g.texts, text), g.atoms+len(p.Atoms)
	}
	return err
}

// recorded returns the configuration as it is now, for the manifest.
func (g *givenPatterns) recorded() any {
	r := recordedPatterns{g.Recorded(parquet.Versions(parquet.Match{})), "", g.flags.variable, g.flags.bindings, g.flags.stated}
	r.Patterns = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(g.texts, "\n"))))
	return r
}

func (g *givenPatterns) build(held lock.Lock, announce string) *beam.Pipeline {
	return command.BeamPipeline(predict.Matches, predict.MatchParams{AskParams: g.params(held, announce), Patterns: len(g.texts),
		Answer: g.flags.variable, Bindings: g.flags.bindings, Stated: g.flags.stated})
}

// writeTexts writes the patterns, which workers read.
func (g *givenPatterns) writeTexts(ctx context.Context) error {
	return storage.WriteFile(ctx, g.url(predict.PatternsFile), []byte(strings.Join(g.texts, "\n")))
}

// patternsShown is the number of patterns whose answers are printed.
const patternsShown = 20

// show prints the answers of the first patterns, and the outputs.
func (g *givenPatterns) show(ctx context.Context, made bool) error {
	answers := map[int64][]parquet.Match{}
	err := scoring.FirstRows(ctx, g.url(predict.MatchesTable), func(r parquet.Match) bool {
		if r.Pattern < patternsShown {
			answers[r.Pattern] = append(answers[r.Pattern], r)
		}
		return true
	})
	if err != nil {
		return err
	}
	left := int64(0)
	for i, text := range g.texts[:min(patternsShown, len(g.texts))] {
		g.E.Say("\n%s", text)
		if len(answers[int64(i)]) == 0 {
			g.E.Say("      none")
		}
		for _, r := range answers[int64(i)] {
			if r.Position == 1 && r.Cut != "" {
				g.E.Say("      followed: %s; --bindings takes more", r.Cut)
			}
			if r.Probability < leastShown {
				left++
				continue
			}
			how := "probability " + probability.Text(r.Probability)
			if r.Probability == 1 {
				how = "stated"
			}
			g.E.Say("%4d  %s  %s", r.Position, r.Entity, how)
			for fact := range strings.SplitSeq(r.Facts, pattern.Between) {
				g.E.Say("        %s", fact)
			}
			if r.Probability == 1 && int(r.Position) == g.Best {
				g.E.Say("      more may be stated, which --top_k lists")
			}
		}
	}
	if left > 0 {
		g.E.Say("\nleft out above, but in the files: %s answers with a probability under %v", progress.Count(left), leastShown)
	}
	if more := len(g.texts) - patternsShown; more > 0 {
		g.E.Say("\n... and the answers of %s more patterns in the files", progress.Count(int64(more)))
	}
	g.E.Say("")
	g.E.Outputs(made, g.url(predict.MatchesFile), g.url(predict.MatchesTable))
	g.Next()
	return nil
}
