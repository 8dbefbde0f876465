package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	_ "tagnet/formats/storage/schemes"
)

// enabled is the environment variable that makes the tests start Flink.
const enabled = "TAGNET_FLINK"

// TestFlinkGivesTheLocalBytes runs the commands on the local runner, in a local workspace, and on a cluster of two
// TaskManagers with workers as processes, in a workspace on Google Cloud Storage. A TaskManager and workers are killed
// meanwhile. It compares all files of the two workspaces.
func TestFlinkGivesTheLocalBytes(t *testing.T) {
	if os.Getenv(enabled) == "" {
		t.Skip("it needs Java, Maven and some minutes: make test-flink runs it")
	}
	s := setUp(t)
	s.closed(t)
	train := []string{"train", "--preset=wn-v1", "--epochs=2", "--queries_per_epoch=1000"}
	loopback := []string{"distances", "--split=valid"}
	for _, arguments := range [][]string{
		{"preprocess", "--dataset=" + s.dataset},
		{"distances", "--split=test"},
		{"messages", "--split=test"},
	} {
		s.local(t, arguments...)
		s.flink(t, arguments, nil)
	}
	near := []string{"--reach=300", "--layers=4"}
	parts, valid := append([]string{"bundle", "--split=train"}, near...), append([]string{"bundle", "--split=valid"}, near...)
	s.local(t, parts...)
	s.flink(t, parts, func() { s.kill(t, s.busy(t)) })
	s.local(t, valid...)
	s.flink(t, valid, nil)
	// The parts give workers that hold no graph the weights of a training that holds it.
	within := append([]string{"train", "--preset=wn-v1", "--run=near", "--epochs=1"}, near...)
	s.local(t, within...)
	s.flink(t, append(within, "--bundles"), nil)
	s.flink(t, append(within, "--resume"), nil) // fits probabilities, which takes the graph
	s.local(t, loopback...)
	s.run(t, "flink", s.there, slices.Concat(loopback, s.flags()[:3], []string{"--environment_type=LOOPBACK"}), nil)
	s.local(t, train...)
	s.flink(t, train, func() { s.kill(t, s.busy(t)) })
	s.local(t, "score", "--split=test")
	s.flink(t, []string{"score", "--split=test"}, nil)
	facts := []string{"discover", "--relation=r0", "--most=50", "--explain"} // jobs to ask, to ask backward, and to list and explain
	s.local(t, facts...)
	s.flink(t, facts, nil)
	pattern := []string{"ask", "--pattern=r0(?x, ?y), r1(?y, e595)", "--bindings=8"}
	s.local(t, pattern...)
	s.flink(t, pattern, nil)
	zero := []string{"score", "--model=zero", "--run=zero"}
	s.local(t, zero...)
	s.flink(t, zero, nil)
	s.same(t)

	// The model again, by two workers in rounds, of which each trains one shard.
	rounds := slices.Concat(train, []string{"--workers=2", "--local_steps=8", "--force"})
	s.local(t, rounds...)
	s.flink(t, rounds, func() { s.kill(t, s.busy(t)) })

	// Without vector instructions the command takes long enough to be disturbed twice. What stays is checked when
	// the cluster has stopped: the job server's part of a TaskManager can keep the worker of an attempt that lost
	// another TaskManager.
	score := []string{"score", "--split=valid", "--kernel=portable"}
	s.local(t, score...)
	s.run(t, "flink", s.there, slices.Concat(score, s.flags()), func() {
		s.kill(t, s.busy(t))
		s.restartTaskManager(t, s.taskManager(t, s.busy(t)))
	})
	s.same(t)
}

// closed checks that other machines do not reach Flink, which runs programs for whoever does. An address of
// this machine beside localhost stands for theirs. Beam's job server takes all addresses for jobs and
// artifacts, as SECURITY.md says.
func (s *setting) closed(t *testing.T) {
	t.Helper()
	for _, port := range []int{s.cluster.Ports.RPC, s.cluster.Ports.REST, s.cluster.Ports.Expansion} {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.2:%d", port)); err == nil {
			c.Close()
			t.Errorf("port %d of the cluster %+v is open to other machines", port, s.cluster.Ports)
		}
	}
}

// setting is where the test runs.
type setting struct {
	folder   string // for everything below
	programs string // the built programs
	dataset  string // the flag of preprocess, a generated graph
	cluster  *Cluster
	// The two workspaces.
	here, there string
}

// setUp builds the programs and starts a storage and a cluster, which end with the test.
func setUp(t *testing.T) *setting {
	t.Helper()
	s := &setting{folder: t.TempDir()}
	s.programs = filepath.Join(s.folder, "bin")
	s.here, s.there = filepath.Join(s.folder, "workspace"), "gs://bucket/workspace"
	build(t, s.programs)

	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL(), "http://"))
	s.data(t)

	ports, err := FreePorts()
	if err != nil {
		t.Fatal(err)
	}
	s.cluster = &Cluster{Folder: filepath.Join(s.folder, "flink"), TaskManagers: 2, Slots: 1, Ports: ports}
	if err := os.Mkdir(s.temporary(), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", s.temporary()) // of the workers, through the TaskManagers
	started := time.Now()
	if err := s.cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("Flink took jobs after %.1f s", time.Since(started).Seconds())
	t.Cleanup(func() {
		if t.Failed() {
			s.logs(t)
		}
		if err := Stop(s.cluster.Folder); err != nil {
			t.Error(err)
		}
		s.leavesNothing(t)
	})
	return s
}

func (s *setting) temporary() string { return filepath.Join(s.folder, "tmp") }

// build builds the programs of the workers as make worker does, and tagnet.
func build(t *testing.T, folder string) {
	t.Helper()
	for _, arguments := range [][]string{
		{"make", "worker", "BIN=" + folder},
		{"go", "build", "-ldflags=-s -w", "-o", folder + "/", "./pipelines/tagnet"},
	} {
		c := exec.Command(arguments[0], arguments[1:]...)
		c.Dir = filepath.Join("..", "..")
		if output, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, output)
		}
	}
}

// data generates the dataset, without large hubs. Fitting probabilities takes time with the entities and relations,
// training with the facts.
func (s *setting) data(t *testing.T) {
	t.Helper()
	s.dataset = filepath.Join(s.folder, "generated")
	c := exec.Command("go", "run", "../generate", "--out="+s.dataset,
		"--facts=2200", "--valid=600", "--test=240", "--entities=600", "--relations=2", "--exponent=4")
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// local runs a command on the local runner.
func (s *setting) local(t *testing.T, arguments ...string) {
	t.Helper()
	s.run(t, "local", s.here, arguments, nil)
}

// flink runs a command on the cluster, and meanwhile disturbs it. It checks that nothing of the job stays on the hosts.
func (s *setting) flink(t *testing.T, arguments []string, disturb func()) {
	t.Helper()
	s.run(t, "flink", s.there, slices.Concat(arguments, s.flags()), disturb)
	s.leavesNothing(t)
}

func (s *setting) flags() []string {
	return s.cluster.Flags(s.programs)
}

// commandTimeout is many times what a command takes.
const commandTimeout = 4 * time.Minute

func (s *setting) run(t *testing.T, where, workspace string, arguments []string, disturb func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(s.programs, "tagnet"), append(arguments, "--workspace="+workspace)...)
	c.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	started := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	disturbed := make(chan struct{})
	go func() {
		defer close(disturbed)
		if disturb != nil {
			disturb()
		}
	}()
	err := c.Wait()
	if t.Failed() || err != nil {
		t.Fatalf("%s on %s: %v\n%s", arguments[0], where, err, output.String())
	}
	<-disturbed
	t.Logf("%-5s %-40s %5.1f s", where, strings.Join(arguments[:min(len(arguments), 3)], " "), time.Since(started).Seconds())
}

// worker is a process that Beam started.
type worker struct {
	pid  int
	busy time.Duration // processor time so far
}

// workers returns the workers that run.
func (s *setting) workers(t *testing.T) []worker {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []worker
	for _, process := range processes {
		program, err := os.Readlink(filepath.Join(process, "exe"))
		if err != nil || !strings.HasPrefix(program, s.folder) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(process, "cmdline"))
		if err != nil || !strings.Contains(string(command), "\x00--worker=true\x00") {
			continue
		}
		if want := filepath.Join(s.programs, "worker"); program != want {
			t.Errorf("a worker runs %s, but the host has %s", program, want)
		}
		stat, err := os.ReadFile(filepath.Join(process, "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		pid, _ := strconv.Atoi(filepath.Base(process))
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		found = append(found, worker{pid, time.Duration(user+system) * 10 * time.Millisecond})
	}
	return found
}

// busy waits until a worker has worked for a second, so that it is in the middle of the job, and returns its process.
func (s *setting) busy(t *testing.T) int {
	for deadline := time.Now().Add(commandTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		workers := s.workers(t)
		if len(workers) == 0 {
			continue
		}
		most := slices.MaxFunc(workers, func(a, b worker) int { return cmp.Compare(a.busy, b.busy) })
		if most.busy >= time.Second {
			return most.pid
		}
	}
	t.Error("no worker has worked for a second")
	return 0
}

// kill ends a worker at once, as the kernel does where memory runs out.
func (s *setting) kill(t *testing.T, pid int) {
	t.Logf("killing worker %d", pid)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("killing worker %d: %v", pid, err)
	}
}

// taskManager returns the name of the TaskManager that a worker belongs to, one of the processes above it.
func (s *setting) taskManager(t *testing.T, pid int) string {
	running, err := Running(s.cluster.Folder)
	if err != nil {
		t.Error(err)
	}
	for above := pid; above > 1; above = parent(t, above) {
		for _, p := range running {
			if p.PID == above {
				return p.Name
			}
		}
	}
	t.Errorf("worker %d belongs to none of %v", pid, running)
	return ""
}

// restartTaskManager kills a TaskManager and starts it again.
func (s *setting) restartTaskManager(t *testing.T, name string) {
	t.Logf("killing %s", name)
	if err := Kill(s.cluster.Folder, name); err != nil {
		t.Error(err)
	}
	for i := range s.cluster.TaskManagers {
		if TaskManager(i+1) != name {
			continue
		}
		if err := s.cluster.StartTaskManager(i + 1); err != nil {
			t.Error(err)
		}
	}
}

func parent(t *testing.T, pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Error(err)
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	above, _ := strconv.Atoi(strings.Fields(rest)[1])
	return above
}

// leavesNothing reports workers, their files, and files of the job server that stay after a job.
func (s *setting) leavesNothing(t *testing.T) {
	t.Helper()
	var workers []worker
	var files []string
	for range 300 {
		workers, files = s.workers(t), nil
		for _, pattern := range []string{filepath.Join(s.temporary(), "*"), filepath.Join(s.cluster.Folder, "artifacts", "*", "*")} {
			found, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
		if len(workers)+len(files) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("after the job there are still the workers %v and the files %v", workers, files)
}

// same compares the two workspaces.
func (s *setting) same(t *testing.T) {
	t.Helper()
	here, there := s.files(t, s.here), s.files(t, s.there)
	if len(here) < 20 {
		t.Errorf("only %d files: %v", len(here), slices.Sorted(maps.Keys(here)))
	}
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(here)), slices.Sorted(maps.Keys(there))); diff != "" {
		t.Errorf("names of files (-local +flink):\n%s", diff)
	}
	for name, local := range here {
		flink, ok := there[name]
		switch {
		case !ok || bytes.Equal(local, flink):
		case strings.Contains(name, ".json"):
			t.Errorf("%s (-local +flink):\n%s", name, gocmp.Diff(string(local), string(flink)))
		default:
			t.Errorf("%s differs: %d bytes, on Flink %d", name, len(local), len(flink))
		}
	}
}

// seconds are the times in files about a run.
var seconds = regexp.MustCompile(`"([a-z_]*seconds)": ?[0-9.e+-]+`)

// files returns the contents of a workspace's files by their names, without times and without the workspace's own name,
// which is in the commands that the report shows.
func (s *setting) files(t *testing.T, workspace string) map[string][]byte {
	t.Helper()
	urls, err := storage.List(t.Context(), workspace)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, url := range urls {
		data, err := storage.ReadFile(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(url, ".json") {
			data = seconds.ReplaceAll(data, []byte(`"$1":0`))
		}
		files[strings.TrimPrefix(url, workspace)] = bytes.ReplaceAll(data, []byte(workspace), []byte("WORKSPACE"))
	}
	return files
}

// logs prints the end of each process's log.
func (s *setting) logs(t *testing.T) {
	logs, err := filepath.Glob(filepath.Join(s.cluster.Folder, "log", "*.log"))
	if err != nil {
		t.Error(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Error(err)
		}
		var failures []string
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, " ERROR ") || strings.Contains(line, " WARN ") || strings.HasPrefix(line, "Caused by") {
				failures = append(failures, line[:min(len(line), 300)])
			}
		}
		t.Logf("%s:\n%s", filepath.Base(log), strings.Join(failures[max(0, len(failures)-20):], ""))
	}
}
