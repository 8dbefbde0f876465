package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, java := Java()
	_, jars := Jars(t.Context())
	for _, err := range []error{java, jars} {
		if err == nil || !strings.Contains(err.Error(), "apt-get install openjdk-17-jre-headless maven") {
			t.Errorf("without Java and Maven: %v", err)
		}
	}
}

func TestAPortThatIsTakenIsNamed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ports, err := FreePorts()
	if err != nil {
		t.Fatal(err)
	}
	ports.RPC = listener.Addr().(*net.TCPAddr).Port
	c := &Cluster{Folder: t.TempDir(), TaskManagers: 1, Slots: 1, Ports: ports}
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d is taken", ports.RPC)) {
		t.Errorf("got %v", err)
	}
}

// TestStopEndsOnlyItsOwn writes the number of another process where that of a process that has ended was.
func TestStopEndsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Process.Kill()
	if err := startProcess(folder, "own", "sh", "-c", "sleep 60; exit", filepath.Join(folder, "tmp", "own")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "pid", "ended"), fmt.Append(nil, other.Process.Pid), 0o666); err != nil {
		t.Fatal(err)
	}
	running, err := Running(folder)
	if err != nil || len(running) != 1 || running[0].Name != "own" {
		t.Fatalf("running: %v, %v", running, err)
	}
	if err := Stop(folder); err != nil {
		t.Fatal(err)
	}
	if running[0].runs(folder) {
		t.Error("the cluster's process still runs")
	}
	if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", other.Process.Pid)); err != nil {
		t.Errorf("another process was stopped: %v", err)
	}
}

// TestAStartedProcessRuns: the kernel shows no command line of a process that has just begun, which is not taken for
// one that has ended.
func TestAStartedProcessRuns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	t.Cleanup(func() { Stop(folder) })
	for i := range 200 {
		name := fmt.Sprintf("process-%d", i)
		if err := startProcess(folder, name, "sh", "-c", "sleep 60; exit", filepath.Join(folder, "tmp", name)); err != nil {
			t.Fatal(err)
		}
		if running, err := Running(folder); err != nil || len(running) != i+1 {
			t.Fatalf("%d of %d processes run, %v", len(running), i+1, err)
		}
	}
}

// TestFlagsNameFlinksREST: without the address an interrupt could not cancel a job on a cluster of other
// ports, which runs on.
func TestFlagsNameFlinksREST(t *testing.T) {
	c := &Cluster{TaskManagers: 2, Slots: 1, Ports: Ports{REST: 1234}}
	if flags := strings.Join(c.Flags("/bin"), " "); !strings.Contains(flags, "--flink_rest=localhost:1234 --parallelism=2") {
		t.Errorf("flags %s", flags)
	}
}
