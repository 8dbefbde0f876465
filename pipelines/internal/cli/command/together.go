package command

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/pipelines/internal/cli/workspace"
)

// Together is a program of several pipelines, whose first argument names one.
type Together struct {
	// Name is the program's, as in errors.
	Name string
	// Summary is the program's help in a sentence.
	Summary string
	// Commands are the pipelines, in the order of -h.
	Commands []Command
	// Others are commands that are no pipelines, last in -h.
	Others []Other
}

// Other is a command that is no pipeline.
type Other struct {
	Name, Does string
	// Argument is the kind of its argument, as in the usage of a flag, and Flags returns its flags, for shell
	// completion. Empty and nil if it has none.
	Argument string
	Flags    func() *flag.FlagSet
	// Main runs the command, which the words start, with arguments, and returns the exit code.
	Main func(words string, arguments []string) int
}

// others returns the commands that are no pipelines, and completion, which every such program has.
func (t Together) others() []Other {
	return append(slices.Clone(t.Others), Other{Name: "completion", Does: "prints a script that completes this program's command lines in a shell",
		Argument: strings.Join(shells, "|"),
		Main: func(words string, arguments []string) int {
			return printed(os.Stdout, os.Stderr, func(out io.Writer) int { return t.completion(words, arguments, out, os.Stderr) })
		}})
}

// Command is a pipeline of such a program, with what it does in a line.
type Command struct {
	Pipeline Pipeline
	Does     string
}

// Main runs the pipeline that the process's first argument names, as the function Main does, and exits. In a process
// that a runner started as a worker it is the worker of every pipeline.
func (t Together) Main() {
	workspace.OneProgram()
	commands = t.Commands
	arguments := os.Args[1:]
	if isWorker(arguments) {
		_ = flag.CommandLine.Parse(arguments) // exits if it fails
		InitBeam()                            // does not return
	}
	var p *Pipeline
	var rest []string
	code := printed(os.Stdout, os.Stderr, func(out io.Writer) (code int) {
		if p, rest, code = t.choose(arguments, out, os.Stderr); p != nil {
			code = Run(interruptible(*p), *p, rest, out, os.Stderr)
		}
		return code
	})
	if p == nil && len(rest) > 0 {
		others := t.others()
		at := slices.IndexFunc(others, func(o Other) bool { return o.Name == rest[0] })
		code = others[at].Main(started()+" "+rest[0], rest[1:])
	}
	os.Exit(code)
}

// started returns the words that started the program.
func started() string { return strings.TrimSpace(workspace.Command{}.String()) }

// isWorker reports whether a runner started this process as a worker: with flags alone, without a command.
func isWorker(arguments []string) bool {
	return len(arguments) > 0 && strings.HasPrefix(arguments[0], "-") && slices.ContainsFunc(arguments, func(argument string) bool {
		argument = "-" + strings.TrimLeft(argument, "-")
		return argument == "-worker" || argument == "-worker=true"
	})
}

// choose returns the pipeline that the first argument names, and its arguments; of an Other it returns all arguments.
// Without either it prints why, and returns the exit code.
func (t Together) choose(arguments []string, out, stderr io.Writer) (p *Pipeline, rest []string, code int) {
	if len(arguments) == 0 {
		t.list(stderr)
		return nil, nil, ExitUsage
	}
	// Help and version may be written as flags.
	name, rest := arguments[0], arguments[1:]
	switch name {
	case "-h", "-help", "--help":
		t.list(out)
		return nil, nil, ExitOK
	case "-version", "--version":
		name = "version"
	case "help":
		if len(rest) == 0 {
			t.list(out)
			return nil, nil, ExitOK
		}
		name, rest = rest[0], append([]string{"-h"}, rest[1:]...)
	}
	known := make([]string, 0, len(t.Commands))
	for i, c := range t.Commands {
		if c.Pipeline.Name == name {
			return &t.Commands[i].Pipeline, rest, ExitOK
		}
		known = append(known, c.Pipeline.Name)
	}
	for _, o := range t.others() {
		if o.Name == name {
			return nil, append([]string{name}, rest...), ExitOK
		}
		known = append(known, o.Name)
	}
	problem := fmt.Sprintf("%q is not a command of %s:", name, t.Name)
	if strings.HasPrefix(name, "-") {
		problem = fmt.Sprintf("%s stands before the command: want %s COMMAND [flags];", names.Escape(name), t.Name)
	} else if slices.Contains(known, otherWords[name]) {
		problem += " did you mean " + otherWords[name] + "?"
	} else if like, ok := names.Like(name, known); ok {
		problem += " did you mean " + like + "?"
	}
	fmt.Fprintf(stderr, "%s %s -h lists them\n", problem, t.Name)
	return nil, nil, ExitUsage
}

func (t Together) list(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nusage: %s COMMAND [flags]\n\n", wrapped(t.Summary, 0, 0), started())
	for _, c := range t.Commands {
		fmt.Fprintf(w, "  %-12s %s\n", c.Pipeline.Name, c.Does)
	}
	for _, o := range t.others() {
		fmt.Fprintf(w, "  %-12s %s\n", o.Name, o.Does)
	}
	fmt.Fprintf(w, "\n%s COMMAND -h explains a command, COMMAND -h all every flag of it.\n", started())
}
