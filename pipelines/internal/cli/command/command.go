package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "golang.org/x/crypto/x509roots/fallback" // root certificates, where the system has none, as in an image without a base
	"golang.org/x/term"

	"tagnet/formats/names"
	"tagnet/formats/remedy"
	_ "tagnet/formats/storage/schemes" // every pipeline reads and writes their URLs
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
)

// Exit codes of every pipeline.
const (
	ExitOK          = 0
	ExitFailure     = 1   // a problem of the data, the workspace or the machine
	ExitUsage       = 2   // a flag is unknown, or its value out of range
	ExitDiverged    = 3   // the hyperparameters of a training let a loss, a gradient or a score become infinite or NaN, or its loss explode
	ExitInterrupted = 130 // SIGINT or SIGTERM
)

// DivergedError is the error of a training whose hyperparameters have to change. It ends the process with ExitDiverged,
// so that a program that tries hyperparameters does not take it for a problem of the machine.
type DivergedError struct{ error }

// Diverged returns a DivergedError.
func Diverged(err error) error { return DivergedError{err} }

// Unwrap returns the error of the training.
func (e DivergedError) Unwrap() error { return e.error }

// MostThreads is the most that a flag may ask for: each has working memory of its own.
const MostThreads = 1024

// Pipeline is one command: its name, its flags and its work.
type Pipeline struct {
	// Name is the folder below pipelines/, as in go run ./pipelines/NAME, and the command of tagnet.
	Name string
	// Summary says in a sentence what the pipeline does; -h shows it first.
	Summary string
	// Flags registers the pipeline's own flags; nil if it has none.
	Flags func(flags *flag.FlagSet)
	// First are the names of the flags that -h shows, separated by spaces: about a dozen, where -h all shows more.
	// Without it -h shows all.
	First string
	// Run does the work. Its error becomes one line on stderr.
	Run func(ctx context.Context, e *Environment) error
	// WithoutJobs is set where Run runs no Beam pipeline, so that --runner has no effect.
	WithoutJobs bool
	// Serves is set where Run answers requests: it writes no output, draws no random numbers, and SIGHUP is a signal to
	// it, no interrupt.
	Serves bool
	// Several is set where Run runs other pipelines, of which each reads what those before it wrote.
	Several bool
	// Temporary is set where Run, without --workspace, works in a temporary folder, which is removed at its end.
	Temporary bool
}

// Environment holds the flags that all pipelines share, and the terminal of a run.
type Environment struct {
	// Workspace holds all input and output.
	Workspace workspace.Workspace
	// Seed is the seed of all random numbers.
	Seed int64
	// Force overwrites existing outputs.
	Force bool
	// Verbose prints Beam's log, or each request where the pipeline serves.
	Verbose bool
	// Out receives results, Err errors and progress.
	Out, Err io.Writer
	// Progress shows the progress of a long step.
	Progress *progress.Display
	// Flags are the parsed flags, for a pipeline that distinguishes the flags that were given.
	Flags *flag.FlagSet

	// Plan is --plan: nothing is submitted or written. Temporary is set if the workspace is a temporary folder.
	Plan, Temporary bool

	jobs        io.Writer // of --dry_run
	helpBeam    bool      // --help_beam
	embedded    bool
	variantSaid bool              // Variant has told the user
	threads     int               // the number of threads that was last printed
	decided     map[string]string // flags that the command decides itself, with their values
}

// Main runs a pipeline with the process's arguments and exits. SIGINT, SIGTERM, and SIGHUP, which comes when a terminal
// is closed, cancel the context, unless the pipeline Serves; a second one ends the process at once.
func Main(p Pipeline) {
	os.Exit(printed(os.Stdout, os.Stderr, func(out io.Writer) int { return Run(interruptible(p), p, os.Args[1:], out, os.Stderr) }))
}

// printed calls run and returns its exit code, or ExitFailure if not all could be printed.
func printed(out, stderr io.Writer, run func(out io.Writer) int) int {
	w := &firstError{Writer: out}
	code := run(w)
	if err := w.first(); code == ExitOK && err != nil {
		fmt.Fprintln(stderr, OneLine(fmt.Errorf("printing: %w", err)))
		return ExitFailure
	}
	return code
}

// firstError keeps the first error of a writer that another goroutine may still be writing to.
type firstError struct {
	io.Writer
	mu  sync.Mutex
	err error
}

// Write writes the text and keeps the first error.
func (w *firstError) Write(text []byte) (int, error) {
	n, err := w.Writer.Write(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

func (w *firstError) first() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Run runs a pipeline with the given arguments and returns its exit code. Several runs may
// follow one another in a process.
func Run(ctx context.Context, p Pipeline, arguments []string, out, stderr io.Writer) int {
	e := &Environment{Out: out, Err: stderr, Progress: progress.New(stderr, isTerminal(stderr))}
	err := e.run(ctx, p, arguments)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp) || errors.Is(err, errShown):
		return ExitOK
	case ctx.Err() != nil:
		kept := "completed outputs are kept"
		switch {
		case e.Temporary:
			kept = "the temporary folder is removed"
		case e.Force:
			kept += ", except those that --force was to overwrite"
		}
		fmt.Fprintf(stderr, "%s: interrupted; %s\n", p.Name, kept)
		return ExitInterrupted
	}
	fmt.Fprintln(stderr, e.line(err))
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, new(DivergedError)):
		return ExitDiverged
	}
	return ExitFailure
}

// Embed runs another pipeline inside this one, on the same terminal but without the closing line
// that names the next command.
// The flag --plan is passed on.
func (e *Environment) Embed(ctx context.Context, p Pipeline, arguments ...string) error {
	inner := &Environment{Out: e.Out, Err: e.Err, Progress: e.Progress, embedded: true}
	if !e.Plan {
		return inner.run(ctx, p, arguments)
	}
	if err := inner.run(ctx, p, append(arguments, "--plan")); !errors.Is(err, errShown) {
		return err
	}
	return nil
}

// run parses the arguments, checks what all pipelines share and runs the pipeline.
func (e *Environment) run(ctx context.Context, p Pipeline, arguments []string) error {
	if err := e.parse(p, arguments); err != nil {
		return err
	}
	if err := checkRunner(); err != nil {
		return err
	}
	if err := e.checkJobFlags(p); err != nil {
		return err
	}
	if !p.WithoutJobs {
		if err := e.checkDataflow(); err != nil {
			return err
		}
	}
	// The workspace is made where the pipeline may make one, and its path absolute, as workers need it.
	if e.Temporary {
		remove, err := e.makeTemporary(ctx, p)
		if err != nil {
			return err
		}
		defer remove()
	}
	root, err := absolute("workspace", e.Workspace.Root())
	if err != nil {
		return err
	}
	e.Workspace = workspace.New(root).WithRun(e.Workspace.Run())
	if dryRun() { // standard output has the jobs alone, for other programs
		e.Out, e.jobs = e.Err, e.Out
	}
	// Beam reads its flags once they are parsed.
	InitBeam()
	quietBeam(e.Verbose)
	if e.Force && !p.WithoutJobs { // do not overwrite anything for a job that cannot start
		if err := reachEndpoint(ctx); err != nil {
			return err
		}
	}
	if e.Plan && p.Several {
		e.Say("%s runs several commands, each on the output of the one before", p.Name)
		checks, err := e.preflight(ctx)
		if err != nil {
			return err
		}
		e.Say("--plan of those commands says more")
		return e.showPlan(ctx, checks, Work{})
	}
	return p.Run(ctx, e)
}

var beamOnce sync.Once

// InitBeam calls beam.Init once per process. Run does so before a pipeline's own Run; tests that
// build a Beam pipeline directly call it first. In a worker process Init does not return.
func InitBeam() {
	beamOnce.Do(func() {
		if !flag.Parsed() {
			// The flags were parsed with the pipeline's own; this only marks the global set as parsed.
			_ = flag.CommandLine.Parse(nil)
		}
		beam.Init()
	})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Say prints a line for the user. Texts and errors among the arguments are escaped by names.Escape.
func (e *Environment) Say(format string, arguments ...any) {
	fmt.Fprintln(e.Out, progress.Readable(format, arguments...))
}

// Wrote prints the line that names an output which the pipeline wrote.
func (e *Environment) Wrote(url string) { e.Say("wrote %s", url) }

// Outputs prints a line for each output: written by this run, or already complete.
func (e *Environment) Outputs(written bool, urls ...string) {
	for _, url := range urls {
		if written {
			e.Wrote(url)
		} else {
			e.Say("already exists: %s", url)
		}
	}
}

// Next prints a line for each command that can follow.
func (e *Environment) Next(commands ...workspace.Command) {
	if e.embedded {
		return
	}
	for _, c := range commands {
		e.Say("next: %s", c)
	}
}

// line returns OneLine of an error whose remedy has commands for a shell, in the user's workspace.
func (e *Environment) line(err error) string {
	return OneLine(errors.New(remedy.Written(err, func(c remedy.CommandLine) string {
		if c.Pipeline == "" || e.Workspace.Root() == "" {
			return c.String()
		}
		return e.Workspace.Command(c.Pipeline, c.Flags...).String()
	})))
}

// OneLine returns an error's text as one line: without what Beam wraps around the error of a DoFn,
// with joined errors separated by semicolons, and escaped by names.Escape.
func OneLine(err error) string {
	lines := strings.Split(strings.TrimSpace(unwrapBeam(err.Error())), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return names.Escape(strings.Join(lines, "; "))
}
