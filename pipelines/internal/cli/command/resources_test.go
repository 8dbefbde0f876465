package command

import (
	"context"
	"io"
	"strings"
	"testing"
)

func TestDevice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{nil, "auto"},
		{[]string{"--device", "cpu"}, "cpu"},
		{[]string{"--device", "cuda"}, "cuda"},
		{[]string{"--device=cuda:3"}, "cuda:3"},
		{[]string{"--device", "gpu"}, `--device is "gpu": want auto, cpu, cuda, cuda:n, the number of a device from 0, or cuda:all`},
	} {
		var r Resources
		var stderr strings.Builder
		got := ""
		Run(t.Context(), Pipeline{
			Name: "test", Flags: r.Register,
			Run: func(_ context.Context, e *Environment) error { got = r.Device.String(); return nil },
		}, test.arguments, io.Discard, &stderr)
		if got += strings.TrimSpace(stderr.String()); got != test.want {
			t.Errorf("%q: %s, want %s", test.arguments, got, test.want)
		}
	}
}
