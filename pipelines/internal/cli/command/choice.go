package command

import (
	"errors"
	"flag"
	"slices"
	"strings"
)

// Choice registers a flag whose value is one of several texts. -h and shell completion list the same choices as the
// error of another value.
func Choice(set *flag.FlagSet, value *string, name, begin string, choices []string, usage string) {
	*value = begin
	set.Var(&choice{value, choices}, name, "`"+strings.Join(choices, "|")+"`: "+usage)
}

// choice is the flag.Value of Choice.
type choice struct {
	value   *string
	choices []string
}

// String returns the value, "" of the zero choice.
func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

// Set refuses a text that is no choice with an error that lists them.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.choices, text) {
		return errors.New("want one of " + strings.Join(c.choices, ", "))
	}
	*c.value = text
	return nil
}
