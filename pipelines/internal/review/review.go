package review

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/facts"
	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/predict"
	"tagnet/stages/predict/discover"
)

type flags struct {
	list, file, who string
	facts           int
	in              io.Reader
}

// Pipeline is `go run ./pipelines/review`.
func Pipeline() command.Pipeline { return pipeline(os.Stdin) }

// pipeline asks a person who types into in.
func pipeline(in io.Reader) command.Pipeline {
	f := &flags{in: in}
	return command.Pipeline{
		Name: "review", WithoutJobs: true,
		Summary: "Asks you which facts of the list of discover are true, one by one, with their reasons. What you say is kept in the workspace " +
			"(verdicts.tsv): such facts are not listed again, and verdicts tell how many facts are missing.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.list, "list", "", "the `NAME` of the list: that of discover --output, or of its relations; by default the newest")
			set.IntVar(&f.facts, "facts", 50, "the most facts that are shown, 1 or more: a sample that tells most, not the first of the list")
			set.StringVar(&f.file, "file", "", "`FILE` (CSV): made with a sample and an empty column verdict, to be filled in; one that exists is read, "+
				"any TSV or CSV with columns head, relation, tail and verdict")
			set.StringVar(&f.who, "who", "", "the `NAME` that is kept with the verdicts")
		},
		Run: f.run,
	}
}

// run asks, or reads or writes the file.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if f.facts < 1 {
		return command.FlagError("facts", f.facts, "1 or more")
	}
	if f.file != "" {
		switch exists, err := storage.Exists(ctx, f.file); {
		case err != nil:
			return err
		case exists:
			return f.read(ctx, e)
		}
	}
	list, err := f.sample(ctx, e)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		e.Say("all facts of the list %s that have a probability are judged", f.list)
		return nil
	}
	if f.file != "" {
		return f.write(ctx, e, list)
	}
	return f.ask(ctx, e, list)
}

// sample returns the facts to judge.
func (f *flags) sample(ctx context.Context, e *command.Environment) ([]verdicts.Drawn, error) {
	if f.list == "" {
		newest, err := e.Workspace.NewestList(ctx)
		if err != nil {
			return nil, err
		}
		f.list = cmp.Or(newest, "all")
	}
	folder := e.Workspace.FactsFolder(f.list)
	if _, err := e.Workspace.Require(ctx, folder, e.Workspace.Command("discover")); err != nil {
		return nil, err
	}
	judged, err := verdicts.Read(ctx, e.Workspace.Path(verdicts.File))
	if err != nil {
		return nil, err
	}
	var list []verdicts.Listed
	err = parquet.EachPart(ctx, e.Workspace.Path(folder, discover.Table), func(rows []parquet.Fact) error {
		for _, r := range rows {
			if r.Probability != nil {
				list = append(list, verdicts.Listed{Fact: verdicts.Fact{Head: r.Head, Relation: r.Relation, Tail: r.Tail}, Probability: *r.Probability})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	drawn := verdicts.Sample(list, judged.Of, e.Seed)
	return drawn[:min(f.facts, len(drawn))], nil
}

// ask shows facts one by one, and keeps each verdict at once.
func (f *flags) ask(ctx context.Context, e *command.Environment, list []verdicts.Drawn) error {
	m, err := model.Open(ctx, e.Workspace.Root(), model.WithRun(e.Workspace.Run()))
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.MineRules(ctx, nil); err != nil {
		return err
	}
	in, given, last := bufio.NewReader(f.in), 0, -1 // the last verdict was on list[last]
	for i := 0; i < len(list); i++ {
		d := list[i]
		e.Say("\n%s of %s   %.4f  %s  %s  %s", progress.Count(int64(i+1)), progress.Count(int64(len(list))), d.Probability, names.Escape(d.Head),
			names.Escape(d.Relation), names.Escape(d.Tail))
		if err := sayReasons(ctx, e, m, d); err != nil {
			return err
		}
		answer, err := key(e, in)
		if errors.Is(err, io.EOF) || answer == "quit" {
			break
		}
		if err != nil {
			return err
		}
		v := verdicts.Verdict{Fact: d.Fact, Judgment: verdicts.Judgment(answer), Who: f.who, Weight: d.Weight}
		switch {
		case answer == "skip":
			continue
		case answer == "undo" && last < 0:
			e.Say("there is nothing to undo")
			i--
			continue
		case answer == "undo":
			v.Fact, v.Weight = list[last].Fact, 0
			given, i, last = given-1, last-1, -1
		default:
			given, last = given+1, i
		}
		if err := verdicts.Append(ctx, e.Workspace.Root(), "review", v); err != nil {
			return err
		}
	}
	return f.end(ctx, e, m, given)
}

// sayReasons prints why a fact may be true.
func sayReasons(ctx context.Context, e *command.Environment, m *model.Model, d verdicts.Drawn) error {
	const reasons = 2
	why, err := m.Explain(ctx, model.Query{Source: d.Head, Relation: d.Relation}, d.Tail, reasons)
	if unknown := (*model.UnknownNameError)(nil); errors.As(err, &unknown) {
		return fmt.Errorf("the list is of another graph: %w; run %s again", err, e.Workspace.Command("discover"))
	}
	if err != nil {
		return err
	}
	for _, r := range why.Reasons {
		e.Say("    %s: so in %s of %s; here %s", names.Escape(r.Rule), progress.Count(int64(r.Support)), progress.Count(int64(r.Cases)), names.Escape(r.Text()))
	}
	return nil
}

// answers are what a person may type, by the first letter.
var answers = map[byte]string{'t': "true", 'f': "false", 's': "skip", 'u': "undo", 'q': "quit"}

// key returns what a person types: a line that begins with one of the letters.
func key(e *command.Environment, in *bufio.Reader) (string, error) {
	for {
		fmt.Fprint(e.Out, "true, false, skip, undo, quit? ")
		line, err := in.ReadString('\n')
		if line = strings.ToLower(strings.TrimSpace(line)); line != "" {
			if answer, known := answers[line[0]]; known && strings.HasPrefix(answer, line) {
				return answer, nil
			}
			e.Say("type one of the first letters t, f, s, u, q")
		}
		if err != nil {
			fmt.Fprintln(e.Out)
			return "", err
		}
	}
}

// end says what the verdicts tell now.
func (f *flags) end(ctx context.Context, e *command.Environment, m *model.Model, given int) error {
	if err := m.ReadVerdicts(ctx); err != nil {
		return err
	}
	e.Say("\nverdicts given: %s, kept in %s", progress.Count(int64(given)), e.Workspace.Path(verdicts.File))
	for _, line := range m.Told() {
		e.Say("%s", line)
	}
	again := e.Workspace.Command("discover")
	if name, err := e.Workspace.NewestList(ctx); err == nil {
		of, err := e.Workspace.EvaluatedCheckpoint(ctx, e.Workspace.Path(e.Workspace.FactsFolder(name)))
		if err == nil && of.Tables[predict.ExplanationsTable] != "" {
			again = again.With("--explain") // else the list is of another configuration
		}
	}
	e.Next(again)
	return nil
}

// read adds the verdicts of the file.
func (f *flags) read(ctx context.Context, e *command.Environment) error {
	there, err := verdicts.Read(ctx, e.Workspace.Path(verdicts.File))
	if err != nil {
		return err
	}
	var said []verdicts.Verdict // the last one on each fact
	last := map[verdicts.Fact]int{}
	err = facts.ReadVerdicts(ctx, f.file, func(v verdicts.Verdict) error {
		v.Who = cmp.Or(v.Who, f.who)
		if i, again := last[v.Fact]; again {
			said[i] = v
			return nil
		}
		last[v.Fact] = len(said)
		said = append(said, v)
		return nil
	})
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(said), func(v verdicts.Verdict) bool { return there.Of[v.Fact].Judgment == v.Judgment })
	same := len(said) - len(added) // of a file that is read twice
	m, err := model.Open(ctx, e.Workspace.Root(), model.WithRun(e.Workspace.Run()))
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.CheckVerdicts(ctx, added); err != nil {
		return fmt.Errorf("%s: %w", f.file, err)
	}
	if len(added) > 0 {
		if err := verdicts.Append(ctx, e.Workspace.Root(), "review", added...); err != nil {
			return err
		}
	}
	if same > 0 {
		e.Say("verdicts that were there: %s", progress.Count(int64(same)))
	}
	return f.end(ctx, e, m, len(added))
}

// write writes the sample to the file, with an empty column to fill in.
func (f *flags) write(ctx context.Context, e *command.Environment, list []verdicts.Drawn) error {
	rows := [][]string{{"head", "relation", "tail", "verdict", "probability", "weight"}}
	for _, d := range list {
		rows = append(rows, []string{
			d.Head, d.Relation, d.Tail, "", strconv.FormatFloat(d.Probability, 'g', 4, 64), strconv.FormatFloat(d.Weight, 'g', 6, 64),
		})
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	written, err := storage.CompareAndSwap(ctx, f.file, nil, text.Bytes())
	if err == nil && !written {
		err = fmt.Errorf("%s: %w", f.file, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	e.Wrote(f.file)
	e.Say("fill in its column verdict, true or false, then run the same command again")
	return nil
}
