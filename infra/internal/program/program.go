// Package program starts the programs of infra: their signals, flags, errors and exit codes.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// UsageError is a wrong flag. It ends the program with exit code 2.
type UsageError struct{ error }

// Usage returns a UsageError.
func Usage(format string, arguments ...any) error {
	return UsageError{fmt.Errorf(format, arguments...)}
}

// Run calls run with the process's arguments and a context that SIGINT and SIGTERM cancel, prints its error, and
// returns the exit code. It prints interrupted after an interrupt.
func Run(name, interrupted string, run func(ctx context.Context, arguments []string, out, diagnostics io.Writer) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return exitCode(name, interrupted, run(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
}

func exitCode(name, interrupted string, err error, diagnostics io.Writer) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(diagnostics, "%s: %s\n", name, interrupted)
		return 130
	case errors.As(err, new(UsageError)):
		fmt.Fprintf(diagnostics, "%s: %v\n", name, err)
		return 2
	}
	fmt.Fprintf(diagnostics, "%s: %v\n", name, err)
	return 1
}

// Parse parses the flags of a program that takes nothing but flags. With -h it prints what the program does and its
// flags, and returns flag.ErrHelp; other errors are UsageErrors, which Run prints.
func Parse(set *flag.FlagSet, does string, arguments []string, diagnostics io.Writer) error {
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	err := set.Parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(diagnostics)
		fmt.Fprintf(diagnostics, "%s\n\nusage: go run ./infra/%s [flags]\n\nflags:\n", does, set.Name())
		set.PrintDefaults()
		return err
	case err != nil:
		return Usage("%w; -h lists the flags", err)
	case set.NArg() > 0:
		return Usage("unexpected argument %q: flags begin with --; -h lists them", set.Arg(0))
	}
	return nil
}
