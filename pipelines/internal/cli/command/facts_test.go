package command

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer"
	"tagnet/pipelines/internal/cli/workspace"
)

func TestMissingFlag(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]answer.Missing{
		"":                       {Share: .05, Guessed: true},
		".2":                     {Share: .2},
		".2 1":                   {Share: 1},
		"5% a=12.5% b%=150%":     {Share: .05, Relations: map[string]float64{"a": .125, "b%": 1.5}},
		"born in=.3 .1":          {Share: .1, Relations: map[string]float64{"born in": .3}},
		"a=b=1.5 a=.1 a=.2":      {Share: .05, Guessed: true, Relations: map[string]float64{"a=b": 1.5, "a": .2}},
		"http://x/?r=near=1e-06": {Share: .05, Guessed: true, Relations: map[string]float64{"http://x/?r=near": 1e-6}},
	} {
		set := flag.NewFlagSet("ask", flag.ContinueOnError)
		var got answer.Missing
		MissingFlag(set, &got)
		if f := set.Lookup("missing"); f.DefValue != "0.05" {
			t.Errorf("the default is %q", f.DefValue)
		}
		var values []string
		for value := range strings.FieldsSeq(strings.ReplaceAll(arguments, "born in", "born_in")) {
			values = append(values, "--missing", strings.ReplaceAll(value, "_", " "))
		}
		err := set.Parse(values)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: error %v (-want +got):\n%s", arguments, err, diff)
		}
		// The command line that is shown to run the command again says the same.
		again := flag.NewFlagSet("ask", flag.ContinueOnError)
		var repeated answer.Missing
		MissingFlag(again, &repeated)
		line := (&Environment{Flags: set, Workspace: workspace.New(workspace.Default)}).Again()
		err = again.Parse(line.Flags)
		if diff := cmp.Diff(want, repeated); diff != "" || err != nil {
			t.Errorf("%q: error %v of %v (-want +got):\n%s", arguments, err, line, diff)
		}
	}
	for _, value := range []string{"", "0", "-.1", "1.01", "NaN", "much", "a=", "a=0", "a=-1", "a=NaN", "a=Inf", "a=b", "=.5", "%", "0%", "101%", "5%%",
		"a=%"} {
		set := flag.NewFlagSet("ask", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		var got answer.Missing
		MissingFlag(set, &got)
		if err := set.Parse([]string{"--missing", value}); err == nil || !strings.Contains(err.Error(), "or RELATION=SHARE with a share above 0") {
			t.Errorf("%q: error %v", value, err)
		}
		if got.Share != .05 || len(got.Relations) > 0 {
			t.Errorf("%q sets %+v", value, got)
		}
	}
}
