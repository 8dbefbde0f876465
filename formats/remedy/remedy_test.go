package remedy

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestErrorf(t *testing.T) {
	t.Parallel()
	inner := Errorf(Do("use %v", Flag("device", "cpu")), "no GPU: %w; none at all", io.EOF)
	outer := fmt.Errorf("opening: %w; nothing is lost", inner)
	again := Errorf(Do("use %v", Flag("resume")), "epoch 3: %w", outer)
	for _, c := range []struct {
		err        error
		text, what string
	}{
		{io.EOF, "EOF", "EOF"},
		{inner, "no GPU: EOF; none at all; use --device cpu", "no GPU: EOF; none at all"},
		{outer, "opening: no GPU: EOF; none at all; use --device cpu; nothing is lost", "opening: no GPU: EOF; none at all; nothing is lost"},
		{again, "epoch 3: opening: no GPU: EOF; none at all; nothing is lost; use --resume", "epoch 3: opening: no GPU: EOF; none at all; nothing is lost"},
	} {
		if got := c.err.Error(); got != c.text {
			t.Errorf("text %q, want %q", got, c.text)
		}
		if got := Without(c.err); got != c.what {
			t.Errorf("without remedy %q, want %q", got, c.what)
		}
		if !errors.Is(c.err, io.EOF) {
			t.Errorf("%v does not wrap its reason", c.err)
		}
	}
	if e, ok := errors.AsType[*Error](again); !ok || e.Remedy.String() != "use --resume" {
		t.Errorf("remedy of %v: %+v", again, e)
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	parts := Command("bundle", Flag("split", "train"), Flag("reach", 20))
	longer := parts.With(Flag("force"))
	help := Do("%v, or give train %v", Do("run %v", longer), Flag("reach", 10))
	write := func(c CommandLine) string { return fmt.Sprintf("<%s %q>", c.Pipeline, c.Flags) }
	for _, c := range []struct{ got, want string }{
		{Run("bundle").String(), "run bundle"},
		{parts.String(), "bundle --split train --reach 20"},
		{help.String(), "run bundle --split train --reach 20 --force, or give train --reach 10"},
		{help.Written(CommandLine.String), help.String()},
		{help.Written(write), `run <bundle ["--split" "train" "--reach" "20" "--force"]>, or give train < ["--reach" "10"]>`},
		{Written(io.EOF, write), "EOF"},
		{Written(fmt.Errorf("w: %w; kept", Errorf(Run("ask"), "no run ask: %w", io.EOF)), write), "w: no run ask: EOF; run <ask []>; kept"},
		{Help{}.String() + Help{}.Written(write), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
