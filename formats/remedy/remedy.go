// Package remedy separates what failed from what helps. What helps names flags and commands, which package pipelines
// writes for its users.
package remedy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CommandLine is a command with its flags, or flags alone.
type CommandLine struct {
	// Pipeline is the name of the command, "" for flags alone.
	Pipeline string
	// Flags are the words of the flags, such as --device and cpu.
	Flags []string
}

// Flag returns a flag, with a value if there is one.
func Flag(name string, value ...any) CommandLine {
	words := []string{"--" + name}
	for _, v := range value {
		words = append(words, fmt.Sprint(v))
	}
	return CommandLine{Flags: words}
}

// Command returns a command with flags.
func Command(pipeline string, flags ...CommandLine) CommandLine {
	return CommandLine{Pipeline: pipeline}.With(flags...)
}

// With returns the command line with more flags.
func (c CommandLine) With(flags ...CommandLine) CommandLine {
	for _, more := range flags {
		c.Flags = slices.Concat(c.Flags, more.Flags)
	}
	return c
}

// String returns the words, as an error has them that knows no user.
func (c CommandLine) String() string {
	return strings.TrimSpace(c.Pipeline + " " + strings.Join(c.Flags, " "))
}

// Help says what a user of the commands can do, in words, command lines and further Helps.
type Help struct {
	text, format string
	arguments    []any
}

// Do returns a Help with words from fmt.Sprintf, as Do("use %v", Flag("device", "cpu")).
func Do(format string, arguments ...any) Help {
	return Help{fmt.Sprintf(format, arguments...), format, arguments}
}

// Run returns the Help to run a command.
func Run(pipeline string, flags ...CommandLine) Help {
	return Do("run %v", Command(pipeline, flags...))
}

// String returns the words and the command lines by their String.
func (h Help) String() string { return h.text }

// Written returns the words, and the command lines as write writes them.
func (h Help) Written(write func(CommandLine) string) string {
	arguments := slices.Clone(h.arguments)
	for i, argument := range arguments {
		switch a := argument.(type) {
		case CommandLine:
			arguments[i] = write(a)
		case Help:
			arguments[i] = a.Written(write)
		}
	}
	return fmt.Sprintf(h.format, arguments...)
}

// Error is an error and what helps.
type Error struct {
	// What says what failed, without flags and commands.
	What string
	// Remedy says what a user can do about it.
	Remedy Help
	reason error
}

// Errorf returns an Error with What from fmt.Errorf, without the remedies of errors that it wraps.
func Errorf(help Help, format string, arguments ...any) error {
	reason := fmt.Errorf(format, arguments...)
	return &Error{What: Without(reason), Remedy: help, reason: reason}
}

// Error returns "what; remedy".
func (e *Error) Error() string { return e.What + "; " + e.Remedy.String() }

// Unwrap returns the error that fmt.Errorf returns.
func (e *Error) Unwrap() error { return e.reason }

// Without returns the text of an error without the remedy that it, or an error that it wraps, has.
func Without(err error) string { return replaced(err, func(e *Error) string { return e.What }) }

// Written returns the text of an error with the command lines of that remedy as write writes them.
func Written(err error, write func(CommandLine) string) string {
	return replaced(err, func(e *Error) string { return e.What + "; " + e.Remedy.Written(write) })
}

// replaced returns the text of an error with another one of the Error that it is or wraps.
func replaced(err error, text func(*Error) string) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return strings.Replace(err.Error(), e.Error(), text(e), 1)
	}
	return err.Error()
}
