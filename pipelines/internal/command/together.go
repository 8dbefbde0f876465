package command

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/pipelines/internal/workspace"
)

// Together is a program of several pipelines, whose first argument names one.
type Together struct {
	// Name is the program's, as in errors.
	Name string
	// Summary says in a sentence what the program does.
	Summary string
	// Commands are the pipelines, in the order of -h.
	Commands []Command
	// Starters are commands that start this program, last in -h.
	Starters []Starter
}

// Starter is a command that starts the program's pipelines as processes of their own.
type Starter struct {
	Name, Does string
	// Main runs the command, which the words start, with arguments, and returns the exit code.
	Main func(words string, arguments []string) int
}

// Command is a pipeline of such a program, with what it does in a line.
type Command struct {
	Pipeline Pipeline
	Does     string
}

// Main runs the pipeline that the process's first argument names, as the function Main does, and exits. In a process that a
// runner started as a worker it is the worker of every pipeline.
func (t Together) Main() {
	workspace.OneProgram()
	arguments := os.Args[1:]
	if isWorker(arguments) {
		_ = flag.CommandLine.Parse(arguments) // exits if it fails
		InitBeam()                            // does not return
	}
	p, rest, code := t.choose(arguments, os.Stdout, os.Stderr)
	if p != nil {
		code = Run(interruptible(*p), *p, rest, os.Stdout, os.Stderr)
	} else if len(rest) > 0 {
		at := slices.IndexFunc(t.Starters, func(s Starter) bool { return s.Name == rest[0] })
		code = t.Starters[at].Main(started()+" "+rest[0], rest[1:])
	}
	os.Exit(code)
}

// started returns the words that started the program.
func started() string { return strings.TrimSpace(workspace.Command{}.String()) }

// isWorker reports whether the arguments are those with which runners start a worker.
func isWorker(arguments []string) bool {
	return slices.ContainsFunc(arguments, func(argument string) bool {
		argument = "-" + strings.TrimLeft(argument, "-")
		return argument == "-worker" || argument == "-worker=true"
	})
}

// choose returns the pipeline that the first argument names, and its arguments; of a Starter it returns all arguments. Without either
// it prints why, and returns the exit code.
func (t Together) choose(arguments []string, out, stderr io.Writer) (p *Pipeline, rest []string, code int) {
	if len(arguments) == 0 {
		t.list(stderr)
		return nil, nil, ExitUsage
	}
	name, rest := arguments[0], arguments[1:]
	switch name {
	case "-h", "-help", "--help":
		t.list(out)
		return nil, nil, ExitOK
	case "help":
		if len(rest) == 0 {
			t.list(out)
			return nil, nil, ExitOK
		}
		name, rest = rest[0], []string{"-h"}
	}
	known := make([]string, 0, len(t.Commands))
	for i, c := range t.Commands {
		if c.Pipeline.Name == name {
			return &t.Commands[i].Pipeline, rest, ExitOK
		}
		known = append(known, c.Pipeline.Name)
	}
	for _, s := range t.Starters {
		if s.Name == name {
			return nil, append([]string{name}, rest...), ExitOK
		}
		known = append(known, s.Name)
	}
	problem := fmt.Sprintf("%q is not a command of %s:", name, t.Name)
	if strings.HasPrefix(name, "-") {
		problem = fmt.Sprintf("%s stands before the command: want %s COMMAND [flags];", names.Escape(name), t.Name)
	} else if like, ok := names.Like(name, known); ok {
		problem += " did you mean " + like + "?"
	}
	fmt.Fprintf(stderr, "%s %s -h lists them\n", problem, t.Name)
	return nil, nil, ExitUsage
}

// list prints the commands.
func (t Together) list(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nusage: %s COMMAND [flags]\n\n", wrapped(t.Summary, 0, 0), started())
	for _, c := range t.Commands {
		fmt.Fprintf(w, "  %-12s %s\n", c.Pipeline.Name, c.Does)
	}
	for _, s := range t.Starters {
		fmt.Fprintf(w, "  %-12s %s\n", s.Name, s.Does)
	}
	fmt.Fprintf(w, "\n%s COMMAND -h explains a command.\n", started())
}
