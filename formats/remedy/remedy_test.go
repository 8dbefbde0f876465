package remedy

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestErrorf(t *testing.T) {
	t.Parallel()
	inner := Errorf("use --device cpu", "no GPU: %w; none at all", io.EOF)
	outer := fmt.Errorf("opening: %w; nothing is lost", inner)
	again := Errorf("use --resume", "epoch 3: %w", outer)
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
	if e, ok := errors.AsType[*Error](again); !ok || e.Remedy != "use --resume" {
		t.Errorf("remedy of %v: %+v", again, e)
	}
}
