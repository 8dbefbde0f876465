package main

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"

	"tagnet/infra/internal/program"
)

func TestParse(t *testing.T) {
	t.Parallel()
	var help strings.Builder
	if _, err := parse([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-toolchain folder") {
		t.Errorf("-h: %v, printed %q", err, help.String())
	}
	o, err := parse(nil, &help)
	if want := (options{kernels: "model/gpu/kernels"}); err != nil || o != want {
		t.Errorf("no flags: %+v, %v, want %+v", o, err, want)
	}
	for _, arguments := range [][]string{{"--unknown"}, {"update.cu"}} {
		if err := run(context.Background(), arguments, &help, &help); !errors.As(err, new(program.UsageError)) {
			t.Errorf("%q: %v, want a usage error", arguments, err)
		}
	}
}
