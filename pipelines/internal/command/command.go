package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"golang.org/x/term"

	_ "tagnet/formats/storage/gcs" // every pipeline reads and writes gs:// URLs
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/workspace"
)

// Exit codes of every pipeline.
const (
	ExitOK          = 0
	ExitFailure     = 1   // something is wrong with the data, the workspace or the machine
	ExitUsage       = 2   // a flag is unknown, or its value out of range
	ExitInterrupted = 130 // SIGINT or SIGTERM
)

// MostThreads is the most that a flag may ask for: each has working memory of its own.
const MostThreads = 1024

// Pipeline is one command: what it is called, which flags it has, and what it does.
type Pipeline struct {
	// Name is the folder below pipelines/, as in go run ./pipelines/NAME.
	Name string
	// Summary says in a sentence what the pipeline does; -h shows it first.
	Summary string
	// Flags registers the pipeline's own flags; nil if it has none.
	Flags func(flags *flag.FlagSet)
	// Run does the work. Its error becomes one line on stderr.
	Run func(ctx context.Context, e *Environment) error
	// WithoutJobs tells that Run runs no Beam pipeline, so that --runner is of no matter.
	WithoutJobs bool
}

// Environment is what the flags that all pipelines share, and the terminal, give to a run.
type Environment struct {
	// Workspace is where everything is read and written.
	Workspace workspace.Workspace
	// Seed decides everything that is drawn at random.
	Seed int64
	// Force makes outputs anew that are there already.
	Force bool
	// Verbose lets Beam's own log through.
	Verbose bool
	// Out takes what the user asked for, Err errors and progress.
	Out, Err io.Writer
	// Progress shows how far a long step is.
	Progress *progress.Display
	// Flags are the parsed flags, for a pipeline that must know which ones were given.
	Flags *flag.FlagSet

	embedded bool
	threads  int // that --memory holds, when last it was said
}

// Main runs a pipeline with the process's arguments and exits. SIGINT, SIGTERM, and SIGHUP, which
// comes as a terminal is closed, cancel the context; a second one ends the process at once.
func Main(p Pipeline) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	go func() {
		<-ctx.Done()
		stop()
	}()
	os.Exit(Run(ctx, p, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs a pipeline with the given arguments and returns its exit code. Several runs may
// follow one another in a process.
func Run(ctx context.Context, p Pipeline, arguments []string, out, stderr io.Writer) int {
	e := &Environment{Out: out, Err: stderr, Progress: progress.New(stderr, isTerminal(stderr))}
	err := e.run(ctx, p, arguments)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return ExitOK
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s: interrupted; what is complete is kept, but for what was being made anew\n", p.Name)
		return ExitInterrupted
	}
	fmt.Fprintln(stderr, OneLine(err))
	var usage *UsageError
	if errors.As(err, &usage) {
		return ExitUsage
	}
	return ExitFailure
}

// Embed runs another pipeline inside of this one, with the same terminal but without the
// closing line that says what to run next.
func (e *Environment) Embed(ctx context.Context, p Pipeline, arguments ...string) error {
	inner := &Environment{Out: e.Out, Err: e.Err, Progress: e.Progress, embedded: true}
	return inner.run(ctx, p, arguments)
}

func (e *Environment) run(ctx context.Context, p Pipeline, arguments []string) error {
	if err := e.parse(p, arguments); err != nil {
		return err
	}
	if err := checkRunner(); err != nil {
		return err
	}
	InitBeam()
	quietBeam(e.Verbose)
	if e.Force && !p.WithoutJobs { // what is there is taken away: not for a run that cannot begin
		if err := reachEndpoint(ctx); err != nil {
			return err
		}
	}
	return p.Run(ctx, e)
}

var beamOnce sync.Once

// InitBeam calls beam.Init, once in the process. Run does it before a pipeline's own Run; tests
// that build a Beam pipeline without it call this first. In a worker process Init does not
// return.
func InitBeam() {
	beamOnce.Do(func() {
		if !flag.Parsed() {
			// The flags were parsed with the pipeline's own; this only marks the global set.
			_ = flag.CommandLine.Parse(nil)
		}
		beam.Init()
	})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Say prints a line for the user.
func (e *Environment) Say(format string, arguments ...any) {
	fmt.Fprintf(e.Out, format+"\n", arguments...)
}

// Wrote prints the line that says which output a pipeline wrote.
func (e *Environment) Wrote(url string) { e.Say("wrote %s", url) }

// Outputs prints a line for each output: that the pipeline wrote it or, where it was not made
// now, that it is there already.
func (e *Environment) Outputs(made bool, urls ...string) {
	for _, url := range urls {
		if made {
			e.Wrote(url)
		} else {
			e.Say("there already: %s", url)
		}
	}
}

// Next prints the line that says what to run next, with the workspace if it is not the
// default one. Of several alternatives each is a line.
func (e *Environment) Next(commands ...string) {
	if e.embedded {
		return
	}
	for _, c := range commands {
		e.Say("next: %s", e.Workspace.Command(c))
	}
}

// OneLine is an error's text in one line: what a DoFn returned is dug out of what Beam
// wraps around it, and joined errors stand behind one another.
func OneLine(err error) string {
	lines := strings.Split(strings.TrimSpace(unwrapBeam(err.Error())), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}
