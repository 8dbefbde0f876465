package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, 0, ""},
		{flag.ErrHelp, 0, ""},
		{fmt.Errorf("reading: %w", context.Canceled), 130, "bench: nothing was written\n"},
		{fmt.Errorf("flags: %w", Usage("--n is %d", 3)), 2, "bench: flags: --n is 3\n"},
		{errors.New("no file"), 1, "bench: no file\n"},
	} {
		var says strings.Builder
		if code := exitCode("bench", "nothing was written", c.err, &says); code != c.code || says.String() != c.says {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.err, code, says.String(), c.code, c.says)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"--n 3":     "",
		"--n three": "invalid value",
		"--m 3":     "not defined: -m; -h lists the flags",
		"3":         `unexpected argument "3"`,
	} {
		set := flag.NewFlagSet("bench", flag.ContinueOnError)
		n := set.Int("n", 1, "a number")
		var says strings.Builder
		err := Parse(set, "Times things.", strings.Fields(arguments), &says)
		switch {
		case want == "" && (err != nil || *n != 3):
			t.Errorf("%s: n is %d, error %v", arguments, *n, err)
		case want != "" && (!errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want a UsageError with %q", arguments, err, want)
		case says.Len() > 0:
			t.Errorf("%s: printed %q", arguments, says.String())
		}
	}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.Int("n", 1, "a number")
	var says strings.Builder
	if err := Parse(set, "Times things.", []string{"-h"}, &says); !errors.Is(err, flag.ErrHelp) ||
		!strings.HasPrefix(says.String(), "Times things.\n\nusage: go run ./infra/bench [flags]") || !strings.Contains(says.String(), "-n int") {
		t.Errorf("-h: error %v, printed %q", err, says.String())
	}
}
