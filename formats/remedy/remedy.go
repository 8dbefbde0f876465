// Package remedy separates what failed from what helps, which names flags and commands.
package remedy

import (
	"errors"
	"fmt"
	"strings"
)

// Error is an error and what helps.
type Error struct {
	// What says what failed, without flags and commands.
	What string
	// Remedy says what a user of the commands can do about it, as "use --device cpu".
	Remedy string
	reason error
}

// Errorf returns an Error with What from fmt.Errorf, without the remedies of errors that it wraps.
func Errorf(remedy, format string, arguments ...any) error {
	reason := fmt.Errorf(format, arguments...)
	return &Error{What: Without(reason), Remedy: remedy, reason: reason}
}

// Error returns "what; remedy".
func (e *Error) Error() string { return e.What + "; " + e.Remedy }

// Unwrap returns the error that fmt.Errorf returns.
func (e *Error) Unwrap() error { return e.reason }

// Without returns the text of an error without the remedy that it, or an error that it wraps, has.
func Without(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return strings.Replace(err.Error(), e.Error(), e.What, 1)
	}
	return err.Error()
}
