package command

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
)

func TestRunnersThatCannotRun(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	runner, endpoint := *runners.Runner, *jobopts.Endpoint
	t.Cleanup(func() { *runners.Runner, *jobopts.Endpoint = runner, endpoint })
	for _, test := range []struct {
		name      string
		arguments []string
		code      int
		says      string
	}{
		{"unknown", []string{"--runner", "flinc"}, ExitUsage, "--runner is flinc: want prism, "},
		{"no endpoint", []string{"--runner", "flink"}, ExitUsage, "--runner flink needs --endpoint HOST:PORT"},
		{"nobody there", []string{"--runner", "flink", "--endpoint", closed}, ExitFailure, "at --endpoint " + closed + ": "},
	} {
		t.Run(test.name, func(t *testing.T) {
			*runners.Runner, *jobopts.Endpoint = "", ""
			var out, stderr bytes.Buffer
			code := Run(t.Context(), pipeline(), append(test.arguments, "--workspace", t.TempDir()), &out, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, test.code, stderr.String(), test.says)
			}
		})
	}
}
