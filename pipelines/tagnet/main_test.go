package main

import (
	"bytes"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	"tagnet/pipelines/internal/cli/command"
)

// asTagnet in the environment makes the test binary be tagnet.
const asTagnet = "TAGNET_TEST_TAGNET"

func TestMain(m *testing.M) {
	if os.Getenv(asTagnet) != "" {
		main()
	}
	os.Exit(m.Run())
}

// start returns tagnet as a process that has not been started, in a folder of the test.
func start(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, arguments...)
	c.Env = append(os.Environ(), asTagnet+"=1")
	c.Dir = t.TempDir()
	return c
}

// TestEveryCommandIsHere compares the commands with the folders of pipelines/.
func TestEveryCommandIsHere(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob("../*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, path := range mains {
		if name := filepath.Base(filepath.Dir(path)); name != "tagnet" {
			want = append(want, name)
		}
	}
	for _, c := range tagnet.Commands {
		got = append(got, c.Pipeline.Name)
		if c.Does == "" || len(c.Does) > 90 || strings.HasSuffix(c.Does, ".") {
			t.Errorf("%s does %q; want a line without a full stop", c.Pipeline.Name, c.Does)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands of tagnet (-folders +main.go):\n%s", diff)
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments []string
		code      int
		says      []string
	}{
		"nothing": {nil, 2, []string{"usage: go run ./pipelines/tagnet COMMAND [flags]", "\n  preprocess   turns"}},
		"-h":      {[]string{"-h"}, 0, []string{"\n  score        ranks"}},
		"help":    {[]string{"help"}, 0, []string{"\n  score        ranks"}},
		"of a command": {[]string{"help", "train"}, 0,
			[]string{"usage: go run ./pipelines/tagnet train [flags]", "--learning_rate float", "train -h all explains "}},
		"--version": {[]string{"--version"}, 0, []string{"tagnet ", "\n  kernel ", "\n  formats   manifest 1"}},
		"misspelled": {[]string{"preproces"}, 2,
			[]string{`"preproces" is not a command of tagnet: did you mean preprocess? tagnet -h lists them` + "\n"}},
		"of another program": {[]string{"predict"}, 2, []string{`"predict" is not a command of tagnet: did you mean ask? tagnet -h lists them` + "\n"}},
		"no command":         {[]string{"port"}, 2, []string{`"port" is not a command of tagnet: `}},
		"in the plural": {[]string{"ask", "--relations", "r"}, 2,
			[]string{"--relations is not a flag of ask: did you mean --relation? -h all lists them\n"}},
		"in the singular": {[]string{"ask", "--query", "r"}, 2, []string{"--query is not a flag of ask: did you mean --queries? -h all lists them\n"}},
		"an address":      {[]string{"serve", "--port", "80"}, 2, []string{"--port is not a flag of serve: did you mean --listen? -h all lists them\n"}},
		"no address":      {[]string{"score", "--port", "80"}, 2, []string{"--port is not a flag of score: -h all lists them\n"}},
		"unlike any":      {[]string{"\x1b[31m"}, 2, []string{`"\x1b[31m" is not a command of tagnet: tagnet -h lists them` + "\n"}},
		"a flag first":    {[]string{"--workspace", "w", "train"}, 2, []string{"--workspace stands before the command: want tagnet COMMAND [flags]"}},
		"another's flag":  {[]string{"score", "--queries", "q.tsv"}, 2, []string{"--queries is not a flag of score: ask has it\n"}},
		"of several":      {[]string{"score", "--relation", "r"}, 2, []string{"--relation is not a flag of score: ask, discover have it\n"}},
		"in presets":      {[]string{"train", "--bias=false"}, 2, []string{`set "bias" in a file of train --preset`}},
		"a remedy":        {[]string{"score", "--workspace", "w"}, 1, []string{"run go run ./pipelines/tagnet preprocess --workspace w first"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, test.arguments...)
			output, _ := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.says {
				if !strings.Contains(string(output), want) {
					t.Errorf("no %q in %s", want, output)
				}
			}
		})
	}
}

// TestHelp counts the flags: -h shows about a dozen of each command, -h all the others, too, and all commands have at
// most 95 names of flags.
func TestHelp(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range tagnet.Commands {
		own := c.Pipeline.OwnFlags()
		count := 0
		own.VisitAll(func(f *flag.Flag) { names[f.Name], count = true, count+1 })
		for _, name := range strings.Fields(c.Pipeline.First) {
			if own.Lookup(name) == nil {
				t.Errorf("%s has no flag --%s", c.Pipeline.Name, name)
			}
		}
		var first, all bytes.Buffer
		command.Run(t.Context(), c.Pipeline, []string{"-h"}, &first, &first)
		command.Run(t.Context(), c.Pipeline, []string{"-h", "all"}, &all, &all)
		if n := strings.Count(first.String(), "\n  --"); n > 15 {
			t.Errorf("%s -h shows %d flags, want 15 at most", c.Pipeline.Name, n)
		}
		if n := strings.Count(all.String(), "\n  --"); n != count {
			t.Errorf("%s -h all shows %d flags, want %d", c.Pipeline.Name, n, count)
		}
	}
	if len(names) > 95 {
		t.Errorf("the commands have %d names of flags, want 95 at most", len(names))
	}
}

// TestWorker starts tagnet as Beam's boot program does, and waits until it asks the runner for work.
func TestWorker(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if method, _ := grpc.MethodFromServerStream(stream); strings.HasSuffix(method, ".BeamFnControl/Control") {
			select {
			case asked <- struct{}{}:
			default:
			}
		}
		<-stream.Context().Done()
		return nil
	}))
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	address := listener.Addr().String()
	worker := start(t, "--worker=true", "--id=1-1", "--logging_endpoint="+address, "--control_endpoint="+address, "--semi_persist_dir="+t.TempDir(),
		"--options={}")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatalf("the worker ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Error("the worker does not ask for work")
	}
	worker.Process.Kill()
}
