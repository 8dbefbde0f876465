package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/remedy"
	"tagnet/pipelines/internal/cli/workspace"
)

func init() {
	beam.RegisterDoFn(failing)
}

// failing is a DoFn that fails as it is told.
func failing(how string, emit func(string)) error {
	switch how {
	case "error":
		return fmt.Errorf("data/train.txt:3: 4 fields where 3 are wanted")
	case "panic":
		panic("index out of range")
	case "lines":
		return errors.Join(errors.New("layers is 0"), errors.New("delta is -1"))
	}
	emit(how)
	return nil
}

// pipeline runs a DoFn on its --how.
func pipeline() Pipeline {
	var how string
	var count int
	return Pipeline{
		Name: "sample", Summary: "Does what it is told.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&how, "how", "", "`way` to go")
			set.IntVar(&count, "count", 3, "how often")
			set.String("pace", "walk", "`walk|run`: how fast")
		},
		Run: func(ctx context.Context, e *Environment) error {
			if count < 0 {
				return FlagError("count", count, "0 or more")
			}
			p, s := beam.NewPipelineWithRoot()
			out := beam.ParDo(s, failing, beam.Create(s, how))
			beam.Reshuffle(s, out)
			if err := e.RunBeam(ctx, p); err != nil {
				return err
			}
			e.Wrote(e.Workspace.Graph())
			e.Next(e.Workspace.Command("other", "--split", "test"))
			return nil
		},
	}
}

func run(ctx context.Context, arguments ...string) (code int, out, stderr string) {
	var o, e bytes.Buffer
	code = Run(ctx, pipeline(), arguments, &o, &e)
	return code, o.String(), e.String()
}

func TestExitCodes(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		code      int
		out, err  string // whole
	}{
		"good": {[]string{"--how", "well", "--workspace", "a b"}, ExitOK,
			"wrote a b/graph\nnext: go run ./pipelines/other --workspace 'a b' --split test\n", ""},
		"default":           {nil, ExitOK, "wrote workspace/graph\nnext: go run ./pipelines/other --split test\n", ""},
		"a DoFn's error":    {[]string{"--how", "error"}, ExitFailure, "", "data/train.txt:3: 4 fields where 3 are wanted\n"},
		"several errors":    {[]string{"--how=lines"}, ExitFailure, "", "layers is 0; delta is -1\n"},
		"a DoFn's panic":    {[]string{"--how", "panic"}, ExitFailure, "", "internal error: index out of range (--verbose shows where)\n"},
		"flag out of range": {[]string{"--count", "-1"}, ExitUsage, "", "--count is -1: want 0 or more\n"},
		"unknown flag":      {[]string{"--cuont", "1"}, ExitUsage, "", "--cuont is not a flag of sample: did you mean --count? -h all lists them\n"},
		"nothing like it":   {[]string{"--threads", "1"}, ExitUsage, "", "--threads is not a flag of sample: -h all lists them\n"},
		"the own one first": {[]string{"--work", "x"}, ExitUsage, "", "--work is not a flag of sample: did you mean --workspace? -h all lists them\n"},
		"no value":          {[]string{"--count"}, ExitUsage, "", "--count needs a value; -h all explains the flags\n"},
		"no boolean":        {[]string{"--force=2"}, ExitUsage, "", "--force is \"2\": want true or false\n"},
		"argument":          {[]string{"data"}, ExitUsage, "", "sample: unexpected argument \"data\": flags begin with --; -h all lists them\n"},
		"no number":         {[]string{"--count", "many"}, ExitUsage, "", "--count is \"many\": want a whole number\n"},
		"too great": {[]string{"--seed=99999999999999999999"}, ExitUsage, "",
			"--seed is \"99999999999999999999\": want a whole number of at most 64 bits\n"},
		"empty workspace":  {[]string{"--workspace", ""}, ExitUsage, "", "--workspace is \"\": want a folder or gs://bucket/prefix\n"},
		"Beam's own flags": {[]string{"--job_name", "x"}, ExitOK, "wrote workspace/graph\nnext: go run ./pipelines/other --split test\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := run(context.Background(), test.arguments...)
			if code != test.code || out != test.out || stderr != test.err {
				t.Errorf("exit %d, out %q, err %q; want %d, %q, %q", code, out, stderr, test.code, test.out, test.err)
			}
		})
	}
}

// TestOutputs holds that a file is called written only by the run that wrote it.
func TestOutputs(t *testing.T) {
	var out bytes.Buffer
	e := &Environment{Out: &out}
	e.Outputs(true, "w/a", "w/b")
	e.Outputs(false, "w/c")
	if want := "wrote w/a\nwrote w/b\nalready exists: w/c\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

// TestAgain holds that a command line keeps what was given, as one word each for a shell.
func TestAgain(t *testing.T) {
	for want, arguments := range map[string][]string{
		"go run ./pipelines/sample --workspace w":                {"--workspace", "w", "--force"},
		"go run ./pipelines/sample --count 4 --how 'two  words'": {"--how", "two  words", "--count=4"},
		"go run ./pipelines/sample --how '' --verbose":           {"--how", "", "--verbose"},
		`go run ./pipelines/sample --how 'it'\''s'`:              {"--how", "it's"},
		"go run ./pipelines/sample --job_name x --verbose=false": {"--verbose=false", "--job_name", "x"},
	} {
		e := &Environment{}
		if err := e.parse(pipeline(), append(arguments, "--seed", "7")); err != nil {
			t.Fatal(err)
		}
		if got := e.Again("seed").String(); got != want {
			t.Errorf("%q: %s, want %s", arguments, got, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := run(ctx, "--how", "well")
	if code != ExitInterrupted || stderr != "sample: interrupted; completed outputs are kept\n" {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestHelp checks that -h has the own flags in groups, and --help_beam those of Beam. TestFlagsOfAServer checks that a
// command that serves has no flags without effect, and that others say nothing of requests.
func TestFlagsOfAServer(t *testing.T) {
	for _, serves := range []bool{false, true} {
		p := pipeline()
		p.Serves = serves
		flags := p.OwnFlags()
		if has := flags.Lookup("force") != nil; has == serves {
			t.Errorf("serves %v: --force is a flag: %v", serves, has)
		}
		if usage := flags.Lookup("verbose").Usage; strings.Contains(usage, "request") != serves || strings.Contains(usage, "Beam") == serves {
			t.Errorf("serves %v: --verbose: %s", serves, usage)
		}
	}
}

func TestHelp(t *testing.T) {
	code, own, _ := run(context.Background(), "-h")
	if code != ExitOK {
		t.Fatalf("exit %d", code)
	}
	code, beams, _ := run(context.Background(), "--help_beam")
	if code != ExitOK {
		t.Fatalf("exit %d", code)
	}
	const want = "Does what it is told.\n\nusage: go run ./pipelines/sample [flags]\n\ndata:\n  --workspace folder "
	if !strings.HasPrefix(own, want) || strings.Contains(own, "--runner") || strings.Contains(own, "--test.") {
		t.Errorf("-h prints %s, want %q first and no flag of Beam", own, want)
	}
	if !strings.Contains(beams, "  --runner string ") || strings.Contains(beams, "--workspace") || strings.Contains(beams, "--test.") {
		t.Errorf("--help_beam prints %s", beams)
	}
	for _, want := range []string{"\nrunning:\n  --seed int ", "\nother:\n", "  --pace walk|run                 how fast (default walk)\n"} {
		if !strings.Contains(own, want) {
			t.Errorf("-h has no %q: %s", want, own)
		}
	}
	for line := range strings.SplitSeq(own+beams, "\n") {
		if len(line) > lastColumn && len(strings.Fields(line)) > 1 {
			t.Errorf("%q is long", line)
		}
	}
}

// TestNothingIsLeftInTheTemporaryFolder holds that Beam's files go with the run.
func TestNothingIsLeftInTheTemporaryFolder(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, how := range []string{"well", "error"} {
		run(context.Background(), "--how", how)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if os.Getenv("TMPDIR") != folder {
		t.Errorf("TMPDIR is %s", os.Getenv("TMPDIR"))
	}
}

func TestEmbed(t *testing.T) {
	var out bytes.Buffer
	outer := Pipeline{Name: "outer", Run: func(ctx context.Context, e *Environment) error {
		if err := e.Embed(ctx, pipeline(), "--how", "well", "--workspace", "w"); err != nil {
			return err
		}
		return e.Embed(ctx, pipeline(), "--how", "error")
	}}
	var stderr bytes.Buffer
	code := Run(context.Background(), outer, nil, &out, &stderr)
	if code != ExitFailure || out.String() != "wrote w/graph\n" || stderr.String() != "data/train.txt:3: 4 fields where 3 are wanted\n" {
		t.Errorf("exit %d, out %q, err %q", code, out.String(), stderr.String())
	}
}

// TestNamesAreEscaped prints a name with escape sequences in a result, in progress and in an error.
func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;title\x07\u202eevil\nnext"
	var out, stderr strings.Builder
	Run(t.Context(), Pipeline{Name: "test", Run: func(_ context.Context, e *Environment) error {
		e.Say("the answer is %s, %v", hostile, errors.New(hostile))
		e.Progress.Print("reading %s", hostile)
		e.Next(workspace.Command{Pipeline: "ask", Flags: []string{"--queries", hostile}})
		return fmt.Errorf("no entity %s", hostile)
	}}, []string{"--workspace", t.TempDir()}, &out, &stderr)
	const shown = `\x1b]0;title\a\u202eevil`
	if want := "the answer is " + shown + `\nnext, ` + shown + `\nnext` + "\nnext: go run ./pipelines/ask --queries $'" + shown + `\nnext'` +
		"\n"; out.String() != want {
		t.Errorf("it prints %q, want %q", &out, want)
	}
	if want := "reading " + shown + `\nnext` + "\nno entity " + shown + "; next\n"; stderr.String() != want {
		t.Errorf("it prints %q, want %q", &stderr, want)
	}
}

func TestRemediesRunInTheWorkspace(t *testing.T) {
	help := remedy.Do("run %v, or leave %v out", remedy.Command("score", remedy.Flag("split", "a b")), remedy.Flag("limit"))
	err := fmt.Errorf("reading: %w", remedy.Errorf(help, "nothing; run score is no command here"))
	for _, c := range []struct {
		w       workspace.Workspace
		command string
	}{
		{workspace.Workspace{}, "score --split a b"},
		{workspace.New(workspace.Default), "go run ./pipelines/score --split 'a b'"},
		{workspace.New("w").WithRun("second"), "go run ./pipelines/score --workspace w --run second --split 'a b'"},
	} {
		want := "reading: nothing; run score is no command here; run " + c.command + ", or leave --limit out"
		if got := (&Environment{Workspace: c.w}).line(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
