package command

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/names"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/workspace"
)

// UsageError is a mistake in the flags. It ends the process with ExitUsage.
type UsageError struct {
	Text string
	// Reason is the error that Text describes, if callers may look for it.
	Reason error
}

// Error returns the text, which names the flag.
func (e *UsageError) Error() string { return e.Text }

// Unwrap returns the reason.
func (e *UsageError) Unwrap() error { return e.Reason }

// FlagError returns a UsageError for a flag whose value is not one that want describes.
func FlagError(name string, value any, want string) error {
	return &UsageError{Text: fmt.Sprintf("--%s is %v: want %s", name, value, want)}
}

// Usage returns a UsageError with a text that names the flag.
func Usage(format string, arguments ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, arguments...)}
}

// OwnFlags returns a pipeline's flags without Beam's: first the ones that all pipelines share.
func (p Pipeline) OwnFlags() *flag.FlagSet {
	return p.flags(&Environment{}, &location{})
}

// location is the URL of a workspace and the name of a run in it, as flags.
type location struct{ root, run string }

// flags registers the pipeline's flags. Those that all pipelines share set the environment's fields
// and the location.
func (p Pipeline) flags(e *Environment, at *location) *flag.FlagSet {
	pipelineFlags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	if p.Temporary {
		pipelineFlags.StringVar(&at.root, "workspace", "",
			"`folder` or gs://bucket/prefix that is kept, and used again by a later run; without it a temporary "+
				"folder, which is removed at the end")
	} else {
		pipelineFlags.StringVar(&at.root, "workspace", "./workspace", "`folder` or gs://bucket/prefix that holds all input and output")
	}
	at.run = checkpoint.DefaultRun
	if workspace.HasRun(p.Name) {
		pipelineFlags.StringVar(&at.run, "run", checkpoint.DefaultRun, "`name` of the model in the workspace, a folder below runs/")
	}
	verbose := "print each request"
	if !p.Serves {
		pipelineFlags.Int64Var(&e.Seed, "seed", 0, "seed of all random numbers")
		pipelineFlags.BoolVar(&e.Force, "force", false, "overwrite existing outputs")
		verbose = "print Beam's log"
	}
	if !p.WithoutJobs {
		pipelineFlags.BoolVar(&e.Plan, "plan", false, "check what the command needs, print it with its jobs, and submit and write nothing")
	}
	pipelineFlags.BoolVar(&e.Verbose, "verbose", false, verbose)
	pipelineFlags.BoolVar(&e.helpBeam, "help_beam", false, "print the flags of Beam and its runners")
	if p.Flags != nil {
		p.Flags(pipelineFlags)
	}
	return pipelineFlags
}

// parse reads the arguments into the environment's fields, the pipeline's own flags and
// the flags that Beam and others registered globally.
func (e *Environment) parse(p Pipeline, arguments []string) error {
	var at location
	// Beam's flags are parsed with the pipeline's, which hide flags of the same name.
	pipelineFlags := p.flags(e, &at)
	all := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	all.SetOutput(io.Discard)
	all.Usage = func() {}
	pipelineFlags.VisitAll(func(f *flag.Flag) { all.Var(f.Value, f.Name, f.Usage) })
	flag.CommandLine.VisitAll(func(f *flag.Flag) {
		if all.Lookup(f.Name) == nil {
			all.Var(f.Value, f.Name, f.Usage)
		}
	})
	e.Flags = all
	// Help counts as an error, so that nothing else runs.
	if err := all.Parse(arguments); err != nil {
		if err == flag.ErrHelp {
			p.help(e.Out, pipelineFlags, all.Arg(0) == "all")
			return err
		}
		return p.explain(err, pipelineFlags, all)
	}
	if e.helpBeam {
		helpBeam(e.Out, pipelineFlags)
		return flag.ErrHelp
	}
	if all.NArg() > 0 {
		return Usage("%s: unexpected argument %q: flags begin with --; -h all lists them", p.Name, all.Arg(0))
	}
	e.Temporary = p.Temporary && !e.HasFlag("workspace")
	if at.root == "" && !e.Temporary {
		return FlagError("workspace", `""`, "a folder or gs://bucket/prefix")
	}
	if checkpoint.CheckRun(at.run) != nil {
		return FlagError("run", fmt.Sprintf("%q", at.run), checkpoint.RunName)
	}
	e.Workspace = workspace.New(at.root).WithRun(at.run)
	return nil
}

// HasFlag reports whether a flag was given.
func (e *Environment) HasFlag(name string) (given bool) {
	e.Flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// NotEmpty returns an error if one of the named flags was given an empty value, as a shell expands
// an unset variable. want describes the values of the flag.
func (e *Environment) NotEmpty(want string, named ...string) error {
	var err error
	e.Flags.Visit(func(f *flag.Flag) {
		if err == nil && slices.Contains(named, f.Name) && f.Value.String() == "" {
			err = FlagError(f.Name, `""`, want)
		}
	})
	return err
}

// Decide puts a flag that the command decides itself into the command lines of Again, as if it were given.
func (e *Environment) Decide(name, value string) {
	if e.decided == nil {
		e.decided = map[string]string{}
	}
	e.decided[name] = value
}

// Again returns the command line of this run with the flags that were given or decided, except --force and the
// flags in without.
func (e *Environment) Again(without ...string) workspace.Command {
	without = append(without, "workspace", "run", "force")
	values := map[string]string{}
	maps.Copy(values, e.decided)
	e.Flags.Visit(func(f *flag.Flag) {
		if _, decided := values[f.Name]; !decided {
			values[f.Name] = f.Value.String()
		}
	})
	var flags []string
	e.Flags.VisitAll(func(f *flag.Flag) {
		value, found := values[f.Name]
		if !found || slices.Contains(without, f.Name) {
			return
		}
		if missing, is := f.Value.(*missingValue); is { // it is repeatable
			for _, text := range missing.texts() {
				flags = append(flags, "--"+f.Name, text)
			}
			return
		}
		switch {
		case !isBool(f):
			flags = append(flags, "--"+f.Name, value)
		case value == "true":
			flags = append(flags, "--"+f.Name)
		default:
			flags = append(flags, "--"+f.Name+"="+value)
		}
	})
	return e.Workspace.Command(e.Flags.Name(), flags...)
}

// dashes rewrites the flag package's errors to name a flag as the other errors do.
var dashes = strings.NewReplacer("for flag -", "of --", " for -", " of --")

// suggest returns "did you mean" with a flag similar to an unknown one, from the first set that has one.
func suggest(name string, sets ...*flag.FlagSet) string {
	for _, set := range sets {
		var known []string
		set.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
		if like, ok := names.Like(name, known); ok {
			return " did you mean --" + like + "?"
		}
	}
	return ""
}

// otherWords are names from other programs, each with the flag or the command of that meaning.
var otherWords = map[string]string{
	"port": "listen", "host": "listen", "address": "listen", "predict": "ask", "infer": "ask", "query": "ask", "evaluate": "score", "eval": "score",
	"fit": "train",
}

// meant returns the flag of a set that an unknown one names by another word, or in another number.
func meant(name string, set *flag.FlagSet) (string, bool) {
	for _, word := range []string{otherWords[name], strings.TrimSuffix(name, "s"), name + "s"} {
		if set.Lookup(word) != nil {
			return word, true
		}
	}
	return "", false
}

// commands has the commands of this program, if it has several.
var commands []Command

// otherUse says which commands of this program have a flag, or what sets a hyperparameter that is no flag; it returns
// "" for other names.
func otherUse(name string) string {
	if f, known := configuration.FieldNamed(name); known && !f.IsFlag() {
		return fmt.Sprintf("set \"%s\" in a file of train --preset", name)
	}
	var have []string
	for _, c := range commands {
		if c.Pipeline.OwnFlags().Lookup(name) != nil {
			have = append(have, c.Pipeline.Name)
		}
	}
	switch len(have) {
	case 0:
		return ""
	case 1:
		return have[0] + " has it"
	}
	return strings.Join(have, ", ") + " have it"
}

// explain rewrites the flag package's error: it names the flag with two dashes and, for an unknown
// flag, suggests a similar one.
func (p Pipeline) explain(err error, pipelineFlags, all *flag.FlagSet) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		name = strings.TrimLeft(name, "-")
		if like, ok := meant(name, pipelineFlags); ok {
			return Usage("--%s is not a flag of %s: did you mean --%s? -h all lists them", name, p.Name, like)
		}
		if others := otherUse(name); others != "" {
			return Usage("--%s is not a flag of %s: %s", name, p.Name, others)
		}
		return Usage("--%s is not a flag of %s:%s -h all lists them", name, p.Name, suggest(name, pipelineFlags, all))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return Usage("--%s needs a value; -h all explains the flags", name)
	}
	if found := invalidValue.FindStringSubmatch(text); found != nil {
		value, name := found[1], found[2]
		if want := acceptedValues(all.Lookup(name), found[3]); want != "" {
			return FlagError(name, value, want)
		}
	}
	return Usage("%s; -h all explains the flags", dashes.Replace(text))
}

// invalidValue matches the flag package's error for an invalid value: value, flag, reason.
var invalidValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-(\S+): (.*)$`)

// acceptedValues describes the values that a flag accepts, or returns "" if that is not known. reason is
// the flag package's reason for rejecting a value.
func acceptedValues(f *flag.Flag, reason string) string {
	if want, ok := strings.CutPrefix(reason, "want "); ok {
		return want
	}
	if f == nil {
		return ""
	}
	value, ok := f.Value.(flag.Getter)
	if !ok {
		return ""
	}
	want := ""
	switch value.Get().(type) {
	case bool:
		want = "true or false"
	case int, int64:
		want = "a whole number"
	case float64:
		want = "a number"
	}
	switch {
	case reason == "value out of range" && want != "":
		return want + " of at most 64 bits"
	case reason == "parse error":
		return want
	}
	return ""
}

// Numbers parses a flag's comma-separated numbers, each from least to most and none twice.
func Numbers(name, text string, least, most int) ([]int, error) {
	var numbers []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < least || n > most {
			return nil, FlagError(name, fmt.Sprintf("%q", text), fmt.Sprintf("numbers from %d to %d, separated by commas", least, most))
		}
		if slices.Contains(numbers, n) {
			return nil, FlagError(name, fmt.Sprintf("%q", text), fmt.Sprintf("each number once, %d is repeated", n))
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
