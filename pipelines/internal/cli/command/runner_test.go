package command

import (
	"bytes"
	"context"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"tagnet/pipelines/internal/cli/job/jobtest"
)

// deadEndpoint returns an endpoint without a job server and restores the runner's flags after the test.
func deadEndpoint(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	runner, endpoint, environment := *runners.Runner, *jobopts.Endpoint, *jobopts.EnvironmentType
	t.Cleanup(func() { *runners.Runner, *jobopts.Endpoint, *jobopts.EnvironmentType = runner, endpoint, environment })
	return l.Addr().String()
}

// otherServer returns the endpoint of a server that ends each connection without a word.
func otherServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			connection.Close()
		}
	}()
	return l.Addr().String()
}

func TestUnusableRunners(t *testing.T) {
	closed := deadEndpoint(t)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	page := web.Listener.Addr().String()
	hangsUp := otherServer(t)
	for _, test := range []struct {
		name      string
		arguments []string
		code      int
		says      string
	}{
		{"unknown", []string{"--runner", "flinc"}, ExitUsage, "--runner is flinc: want direct, "},
		{"an open port", []string{"--runner", "prism"}, ExitUsage,
			"--runner prism would let anybody who reaches its port run programs here: leave the flag out, "},
		{"no runner", []string{"--endpoint", closed}, ExitUsage, "--endpoint " + closed + " needs --runner, such as flink: "},
		{"no endpoint", []string{"--runner", "flink"}, ExitUsage, "--runner flink needs --endpoint HOST:PORT"},
		{"no boot program", []string{"--runner", "flink", "--endpoint", closed, "--environment_type", "process"}, ExitUsage, "needs --environment_config='{"},
		{"no worker pool", []string{"--runner", "flink", "--endpoint", closed, "--environment_type", "EXTERNAL"}, ExitUsage, "--environment_config=HOST:PORT"},
		{"no server", []string{"--runner", "flink", "--endpoint", closed}, ExitFailure, "at --endpoint " + closed + ": "},
		{"a web page", []string{"--runner", "flink", "--endpoint", page}, ExitFailure,
			"--endpoint " + page + ": what listens there answers HTTP, as Flink's page does; give the address of the job server, usually on port 8099\n"},
		{"another server", []string{"--runner", "spark", "--endpoint", hangsUp}, ExitFailure,
			"--endpoint " + hangsUp + ": what listens there does not greet as a job server does; "},
		{"a web page by its DNS name", []string{"--runner", "flink", "--endpoint", "dns:///" + page}, ExitFailure, "what listens there answers HTTP"},
		{"no port", []string{"--runner", "flink", "--endpoint", "localhost"}, ExitUsage, "--endpoint is localhost: want HOST:PORT"},
		{"a URL", []string{"--runner", "flink", "--endpoint", web.URL}, ExitUsage,
			"--endpoint is " + web.URL + ": want HOST:PORT, where the job server listens, not a URL\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			*runners.Runner, *jobopts.Endpoint, *jobopts.EnvironmentType = "", "", ""
			var out, stderr bytes.Buffer
			code := Run(t.Context(), pipeline(), append(test.arguments, "--workspace", t.TempDir()), &out, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.says) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, test.code, stderr.String(), test.says)
			}
		})
	}
}

// TestAJobServerIsReached checks that what greets as gRPC does is taken for a job server.
func TestAJobServerIsReached(t *testing.T) {
	deadEndpoint(t)
	*runners.Runner, *jobopts.Endpoint = "flink", jobtest.Start(t, nil).Endpoint
	if err := reachEndpoint(t.Context()); err != nil {
		t.Error(err)
	}
}

// Outputs that --force removed would be lost if the job cannot start.
func TestForceOverwritesNothingWithoutAJobServer(t *testing.T) {
	p, began := pipeline(), false
	p.Run = func(context.Context, *Environment) error {
		began = true
		return nil
	}
	arguments := []string{"--runner", "flink", "--endpoint", deadEndpoint(t), "--workspace", t.TempDir()}
	var out, stderr bytes.Buffer
	if code := Run(t.Context(), p, append(arguments, "--force"), &out, &stderr); code != ExitFailure || began {
		t.Errorf("exit code %d, want %d; began %v, want false", code, ExitFailure, began)
	}
	without := p
	without.WithoutJobs = true
	if code := Run(t.Context(), without, append(arguments, "--force"), &out, &stderr); code != ExitOK || !began {
		t.Errorf("without jobs: exit code %d, began %v: it needs no runner", code, began)
	}
	began = false
	if code := Run(t.Context(), p, arguments, &out, &stderr); code != ExitOK || !began {
		t.Errorf("without --force: exit code %d, began %v: what is complete needs no runner", code, began)
	}
}

// TestNoJobToShow checks that a command without jobs refuses to show them, rather than to write its outputs.
func TestNoJobToShow(t *testing.T) {
	for argument, want := range map[string]string{"--dry_run": "--dry_run: report runs no job\n",
		"--plan": "--plan is not a flag of report: -h all lists them\n"} {
		var stderr bytes.Buffer
		p := Pipeline{Name: "report", WithoutJobs: true, Run: func(context.Context, *Environment) error {
			t.Errorf("%s: the command runs", argument)
			return nil
		}}
		code := Run(t.Context(), p, []string{argument, "--workspace", t.TempDir()}, &stderr, &stderr)
		if err := flag.Set("dry_run", "false"); err != nil {
			t.Fatal(err)
		}
		if code != ExitUsage || stderr.String() != want {
			t.Errorf("exit code %d, %q, want %q", code, stderr.String(), want)
		}
	}
}

// TestReachable checks that workers of a cluster, who have another working directory, get absolute paths,
// and that those of Dataflow get none of this machine.
func TestReachable(t *testing.T) {
	runner := *runners.Runner
	defer func() { *runners.Runner = runner }()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ runner, path, want string }{
		{"direct", "data/x", "data/x"},
		{"flink", "data/x", filepath.Join(here, "data/x")},
		{"flink", "/data/x", "/data/x"},
		{"flink", "gs://bucket/x", "gs://bucket/x"},
		{"dataflow", "gs://bucket/x", "gs://bucket/x"},
		{"dataflow", "data/x", ""}, // an error
	} {
		*runners.Runner = test.runner
		got, err := (&Environment{}).Reachable("dataset", test.path)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("--runner %s: %s is %q, %v, want %q", test.runner, test.path, got, err, test.want)
		}
	}
}
