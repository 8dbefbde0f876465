package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"tagnet/model/engine/kernel"
)

func TestCheckKernel(t *testing.T) {
	for _, test := range []struct{ flag, environment, want string }{
		{"", "", ""},
		{"", "portable", ""},
		{"auto", "sse9", ""}, // the flag decides
		{"", "sse9", "TAGNET_KERNEL: unknown kernel \"sse9\""},
		{"sse9", "portable", "--kernel: unknown kernel \"sse9\""},
	} {
		t.Setenv("TAGNET_KERNEL", test.environment)
		err := CheckKernel(test.flag)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("--kernel %q, TAGNET_KERNEL %q: %v, want %q", test.flag, test.environment, err, test.want)
		}
	}
}

// TestVariantIsResolvedHere checks that jobs get the name of a variant, never auto, and that the user learns
// of it where workers run elsewhere.
func TestVariantIsResolvedHere(t *testing.T) {
	t.Setenv("TAGNET_KERNEL", "")
	fastest, err := kernel.Named("auto")
	if err != nil {
		t.Fatal(err)
	}
	runner, kind := *runners.Runner, *jobopts.EnvironmentType
	defer func() { *runners.Runner, *jobopts.EnvironmentType = runner, kind }()
	*jobopts.EnvironmentType = ""
	for _, test := range []struct {
		runner, name, want string
		lines              int
	}{
		{"direct", "auto", fastest.Name(), 0},
		{"flink", "", fastest.Name(), 1},
		{"dataflow", "auto", fastest.Name(), 1},
		{"flink", "portable", "portable", 0},
	} {
		*runners.Runner = test.runner
		var out bytes.Buffer
		e := &Environment{Out: &out}
		if e.Variant(test.name); e.Variant(test.name) != test.want || strings.Count(out.String(), "\n") != test.lines {
			t.Errorf("--runner %s --kernel %s: %s, said %q", test.runner, test.name, e.Variant(test.name), out.String())
		}
	}
}
