package command

import (
	"errors"
	"flag"
	"slices"
	"strings"
)

// Choice registers a flag whose value is one of several texts. -h and shell completion list the same choices as the
// error of another value.
func Choice[S ~string](set *flag.FlagSet, value *S, name string, begin S, choices []S, usage string) {
	*value = begin
	texts := make([]string, len(choices))
	for i, c := range choices {
		texts[i] = string(c)
	}
	set.Var(&choice[S]{value, texts}, name, "`"+strings.Join(texts, "|")+"`: "+usage)
}

type choice[S ~string] struct {
	value   *S
	choices []string
}

// String returns the value, "" of the zero choice.
func (c *choice[S]) String() string {
	if c.value == nil {
		return ""
	}
	return string(*c.value)
}

// Set refuses a text that is no choice with an error that lists them.
func (c *choice[S]) Set(text string) error {
	if !slices.Contains(c.choices, text) {
		return errors.New("want one of " + strings.Join(c.choices, ", "))
	}
	*c.value = S(text)
	return nil
}
