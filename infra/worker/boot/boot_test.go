//go:build linux

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/artifact"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"tagnet/formats/workspace/manifest"
)

// role in the environment makes the test binary a program of the test.
const role = "BOOT_TEST_ROLE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--worker=true" {
		work()
	}
	if os.Getenv(role) == "boot" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work is a worker that starts a process, writes a temporary file, and never ends, unless it is told to fail.
func work() {
	child := exec.Command("sleep", "30") // longer than the tests wait
	if err := child.Start(); err != nil {
		panic(err)
	}
	if _, err := os.CreateTemp("", "spill"); err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	file := filepath.Join(os.Getenv("BOOT_TEST_STARTED"), fmt.Sprint(os.Getpid()))
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d %s %s", child.Process.Pid, self, os.Getenv("PIPELINE_OPTIONS_FILE")), 0o666); err != nil {
		panic(err)
	}
	if os.Getenv("BOOT_TEST_FAILS") != "" {
		fmt.Fprintln(os.Stderr, "panic: the worker's last words")
		os.Exit(3)
	}
	for { // not select {}: a program without C ends where all goroutines wait for ever
		time.Sleep(time.Minute)
	}
}

// runner is what a runner serves to a worker's boot program.
type runner struct {
	fnpb.UnimplementedProvisionServiceServer
	jobpb.UnimplementedArtifactRetrievalServiceServer
	fnpb.UnimplementedBeamFnLoggingServer
	address, checksum string
	stop              func()

	mu        sync.Mutex
	log       strings.Builder
	downloads int
}

func serve(t *testing.T) *runner {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{address: listener.Addr().String()}
	server := grpc.NewServer()
	fnpb.RegisterProvisionServiceServer(server, r)
	jobpb.RegisterArtifactRetrievalServiceServer(server, r)
	fnpb.RegisterBeamFnLoggingServer(server, r)
	go server.Serve(listener)
	r.stop = server.Stop
	t.Cleanup(server.Stop)
	return r
}

func (r *runner) GetProvisionInfo(context.Context, *fnpb.GetProvisionInfoRequest) (*fnpb.GetProvisionInfoResponse, error) {
	options, err := tools.JSONToProto(fmt.Sprintf(`{"beam:option:go_options:v1": {"options": {%q: %q}}}`, checksumOption, r.checksum))
	if err != nil {
		return nil, err
	}
	service := &pipepb.ApiServiceDescriptor{Url: r.address}
	return &fnpb.GetProvisionInfoResponse{Info: &fnpb.ProvisionInfo{
		PipelineOptions: options, LoggingEndpoint: service, ArtifactEndpoint: service, ControlEndpoint: service,
		Dependencies: []*pipepb.ArtifactInformation{dependency()},
	}}, nil
}

func dependency() *pipepb.ArtifactInformation {
	payload, err := proto.Marshal(&pipepb.ArtifactFilePayload{Path: "/elsewhere/program"})
	if err != nil {
		panic(err)
	}
	return &pipepb.ArtifactInformation{TypeUrn: artifact.URNFileArtifact, TypePayload: payload, RoleUrn: artifact.URNGoWorkerBinaryRole}
}

func (r *runner) ResolveArtifacts(_ context.Context, q *jobpb.ResolveArtifactsRequest) (*jobpb.ResolveArtifactsResponse, error) {
	return &jobpb.ResolveArtifactsResponse{Replacements: q.GetArtifacts()}, nil
}

func (r *runner) GetArtifact(_ *jobpb.GetArtifactRequest, stream jobpb.ArtifactRetrievalService_GetArtifactServer) error {
	r.mu.Lock()
	r.downloads++
	r.mu.Unlock()
	data, err := os.ReadFile(os.Args[0])
	for len(data) > 0 && err == nil {
		n := min(1<<20, len(data))
		err = stream.Send(&jobpb.GetArtifactResponse{Data: data[:n]})
		data = data[n:]
	}
	return err
}

func (r *runner) Logging(stream fnpb.BeamFnLogging_LoggingServer) error {
	for {
		entries, err := stream.Recv()
		if err != nil {
			return nil
		}
		r.mu.Lock()
		for _, e := range entries.GetLogEntries() {
			fmt.Fprintf(&r.log, "%v %s\n", e.GetSeverity(), e.GetMessage())
		}
		r.mu.Unlock()
	}
}

// host is a machine on which boot programs run: a folder for temporary files, and one in which
// workers say that they run.
type host struct{ temporary, started string }

func newHost(t *testing.T) host {
	return host{temporary: t.TempDir(), started: t.TempDir()}
}

func (h host) environment() []string {
	return append(os.Environ(), role+"=boot", "TMPDIR="+h.temporary, "BOOT_TEST_STARTED="+h.started)
}

// boot starts a boot program and ends it with the test.
func (h host) boot(t *testing.T, r *runner, program string) *exec.Cmd {
	t.Helper()
	c := exec.Command(program, "--id=1-1", "--provision_endpoint="+r.address)
	c.Env = h.environment()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

// workers waits until that many workers run, and returns the fields that each wrote: its number, that of its child, its
// program and its file of options.
func (h host) workers(t *testing.T, n int) [][]string {
	t.Helper()
	var found [][]string
	await(t, fmt.Sprintf("%d workers", n), func() bool {
		found = nil
		files, err := filepath.Glob(filepath.Join(h.started, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if fields := strings.Fields(string(text)); err == nil && len(fields) == 3 {
				found = append(found, append([]string{filepath.Base(file)}, fields...))
			}
		}
		return len(found) == n
	})
	return found
}

// ended waits until a worker and its child do not run any more.
func ended(t *testing.T, worker []string) {
	t.Helper()
	for _, pid := range worker[:2] {
		await(t, "the end of process "+pid, func() bool {
			state, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || bytes.Contains(state, []byte(") Z "))
		})
	}
}

func (h host) empty(t *testing.T) {
	t.Helper()
	await(t, "no file in "+h.temporary, func() bool {
		files, err := os.ReadDir(h.temporary)
		return err == nil && len(files) == 0
	})
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestAnEndedBootLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			boot := h.boot(t, serve(t), os.Args[0])
			worker := h.workers(t, 1)[0]
			boot.Process.Signal(signal)
			boot.Wait()
			ended(t, worker)
			h.empty(t)
		})
	}
}

func TestTheWorkerEndsWithItsSupervisor(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.boot(t, serve(t), os.Args[0])
	worker := h.workers(t, 1)[0]
	stat, err := os.ReadFile("/proc/" + worker[0] + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	supervisor, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended(t, []string{worker[0], worker[0]}) // nothing is left that could end the worker's own child
}

func TestAKilledRunnerLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	shell := exec.Command("sh", "-c", `"$0" --id=1-1 --provision_endpoint=$1 & wait`, os.Args[0], serve(t).address)
	shell.Env = h.environment()
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	worker := h.workers(t, 1)[0]
	shell.Process.Kill()
	shell.Wait()
	ended(t, worker)
	h.empty(t)
}

func TestWorkersOfAHostShareNoFiles(t *testing.T) {
	t.Parallel()
	h, r := newHost(t), serve(t)
	for range 2 {
		h.boot(t, r, os.Args[0])
	}
	workers := h.workers(t, 2)
	for i := 2; i < 4; i++ {
		if a, b := workers[0][i], workers[1][i]; a == b {
			t.Errorf("both workers use %s", a)
		}
	}
}

func TestALostWorkerIsLogged(t *testing.T) {
	t.Parallel()
	h, r := newHost(t), serve(t)
	boot := exec.Command(os.Args[0], "--id=1-1", "--provision_endpoint="+r.address)
	boot.Env = append(h.environment(), "BOOT_TEST_FAILS=1")
	if err := boot.Run(); err == nil {
		t.Error("boot ended without an error")
	}
	ended(t, h.workers(t, 1)[0])
	h.empty(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	if want := "ERROR worker 1-1: exit status 3\npanic: the worker's last words\n"; !strings.Contains(r.log.String(), want) {
		t.Errorf("no %q in the log:\n%s", want, r.log.String())
	}
}

// TestALostRunnerHoldsUpNothing lets a worker fail after the runner's services have ended.
func TestALostRunnerHoldsUpNothing(t *testing.T) {
	t.Parallel()
	h, r := newHost(t), serve(t)
	boot := h.boot(t, r, os.Args[0])
	worker := h.workers(t, 1)[0]
	r.stop()
	pid, err := strconv.Atoi(worker[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGABRT); err != nil { // Go prints all stacks
		t.Fatal(err)
	}
	if err := boot.Wait(); err == nil {
		t.Error("boot ended without an error")
	}
	ended(t, worker)
	h.empty(t)
}

// TestAnInstalledWorkerIsNotDownloaded runs a boot program that has a worker beside it, which is that of the job only
// if the job names its checksum.
func TestAnInstalledWorkerIsNotDownloaded(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprintf("same=%v", same), func(t *testing.T) {
			t.Parallel()
			h, r := newHost(t), serve(t)
			folder := t.TempDir()
			for _, name := range []string{"boot", "worker"} {
				copyProgram(t, os.Args[0], filepath.Join(folder, name))
			}
			installed := filepath.Join(folder, "worker")
			if same {
				file, err := manifest.HashFile(t.Context(), installed)
				if err != nil {
					t.Fatal(err)
				}
				r.checksum = file.SHA256
			} else {
				r.checksum = "of another worker"
			}
			h.boot(t, r, filepath.Join(folder, "boot"))
			if program := h.workers(t, 1)[0][2]; (program == installed) != same {
				t.Errorf("the worker is %s", program)
			}
			if (r.downloads == 0) != same {
				t.Errorf("%d downloads", r.downloads)
			}
		})
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
}

// TestAWorkerPoolIsOfItsMachine checks that other machines do not reach a pool, which starts programs for whoever does,
// unless --listen says so.
func TestAWorkerPoolIsOfItsMachine(t *testing.T) {
	if host, _, _ := net.SplitHostPort(flag.Lookup("listen").DefValue); host != "localhost" {
		t.Errorf("a pool listens on %q", host)
	}
}

func TestAWorkerPoolStartsAndStopsWorkers(t *testing.T) {
	t.Parallel()
	h, r := newHost(t), serve(t)
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	pool := exec.Command(os.Args[0], "--worker_pool", "--listen="+address)
	pool.Env = h.environment()
	if err := pool.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Process.Kill() })
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	client := fnpb.NewBeamFnExternalWorkerPoolClient(connection)
	start := func(id string) string {
		t.Helper()
		response, err := client.StartWorker(t.Context(), &fnpb.StartWorkerRequest{
			WorkerId: id, ProvisionEndpoint: &pipepb.ApiServiceDescriptor{Url: r.address},
		}, grpc.WaitForReady(true))
		if err != nil {
			t.Fatal(err)
		}
		return response.GetError()
	}
	if refused := start("1-1"); refused != "" {
		t.Fatal(refused)
	}
	first := h.workers(t, 1)[0]
	if refused := start("1-1"); !strings.Contains(refused, "a worker pool of its own") {
		t.Errorf("a second worker of the same name: %q", refused)
	}
	if _, err := client.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "1-1"}); err != nil {
		t.Fatal(err)
	}
	ended(t, first)
	h.empty(t)
	await(t, "the name to be free", func() bool { return start("1-1") == "" })
	second := h.workers(t, 2)
	pool.Process.Signal(syscall.SIGTERM)
	if err := pool.Wait(); err != nil {
		t.Errorf("the pool: %v", err)
	}
	for _, worker := range second {
		ended(t, worker)
	}
	h.empty(t)
}
