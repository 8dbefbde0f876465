package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed config.yaml
var config string

// Ports holds the ports of the cluster on localhost.
type Ports struct{ RPC, REST, Jobs, Artifacts, Expansion int }

// DefaultPorts holds the default ports of Flink and of Beam.
var DefaultPorts = Ports{RPC: 6123, REST: 8081, Jobs: 8099, Artifacts: 8098, Expansion: 8097}

// FreePorts returns ports that no process listens on.
func FreePorts() (p Ports, err error) {
	for _, port := range p.all() {
		listener, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			return p, fmt.Errorf("finding a free port: %w", err)
		}
		defer listener.Close() // not before the others are found
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

func (p *Ports) all() []*int {
	return []*int{&p.RPC, &p.REST, &p.Jobs, &p.Artifacts, &p.Expansion}
}

// Cluster is Flink on this machine: a JobManager, TaskManagers, and the job server that takes jobs from Beam.
type Cluster struct {
	// Folder has the configuration, log and process number of each process, and what they write.
	Folder string
	// TaskManagers is their number, Slots how many parallel steps of a job each of them runs.
	TaskManagers, Slots int
	Ports               Ports

	java, jars string
}

// Endpoint is what --endpoint of a command takes.
func (c *Cluster) Endpoint() string { return fmt.Sprintf("localhost:%d", c.Ports.Jobs) }

// REST is the URL of the JobManager, for browsers and programs.
func (c *Cluster) REST() string { return fmt.Sprintf("http://localhost:%d", c.Ports.REST) }

const (
	jobManager = "jobmanager"
	jobServer  = "jobserver"
)

// TaskManager returns the name of the i-th TaskManager, from 1.
func TaskManager(i int) string { return fmt.Sprintf("taskmanager-%d", i) }

// Start starts all processes and returns when the cluster takes jobs. If that fails it stops those that it started.
func (c *Cluster) Start(ctx context.Context) (err error) {
	running, err := Running(c.Folder)
	if err != nil {
		return err
	}
	if len(running) > 0 {
		return fmt.Errorf("starting Flink: %s of the cluster in %s runs; stop it first, or use another --folder", running[0].Name, c.Folder)
	}
	for _, port := range c.Ports.all() {
		listener, err := net.Listen("tcp", fmt.Sprintf("localhost:%d", *port))
		if err != nil {
			return fmt.Errorf("starting Flink: port %d is taken: %w; stop what listens there, or use --free_ports", *port, err)
		}
		listener.Close()
	}
	if c.java, err = Java(); err != nil {
		return err
	}
	if c.jars, err = Jars(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Stop(c.Folder))
		}
	}()
	if err := c.startJVM(jobManager, "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", "-Xmx384m"); err != nil {
		return err
	}
	for i := range c.TaskManagers {
		if err := c.StartTaskManager(i + 1); err != nil {
			return err
		}
	}
	artifacts := filepath.Join(c.Folder, "artifacts")
	err = c.startJVM(jobServer, "org.apache.beam.runners.flink.FlinkJobServerDriver", "-Xmx384m",
		"--job-host=localhost", fmt.Sprintf("--job-port=%d", c.Ports.Jobs),
		fmt.Sprintf("--artifact-port=%d", c.Ports.Artifacts), fmt.Sprintf("--expansion-port=%d", c.Ports.Expansion),
		"--artifacts-dir="+artifacts, fmt.Sprintf("--flink-master=localhost:%d", c.Ports.REST),
		"--flink-conf-dir="+filepath.Join(c.Folder, "conf", jobServer))
	if err != nil {
		return err
	}
	return c.Ready(ctx)
}

// StartTaskManager starts the i-th TaskManager, also one that was killed.
func (c *Cluster) StartTaskManager(i int) error {
	return c.startJVM(TaskManager(i), "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", "-Xmx512m")
}

// startJVM starts a Java program of the cluster with a configuration folder of its own.
func (c *Cluster) startJVM(name, class, heap string, arguments ...string) error {
	conf := filepath.Join(c.Folder, "conf", name)
	temporary := filepath.Join(c.Folder, "tmp", name)
	for _, folder := range []string{conf, temporary, filepath.Join(c.Folder, "artifacts")} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
	}
	var text bytes.Buffer
	err := template.Must(template.New("config.yaml").Parse(config)).Execute(&text, struct {
		Ports
		Slots     int
		Temporary string
	}{c.Ports, c.Slots, strconv.Quote(temporary)})
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(conf, "config.yaml"), text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	command := append(opens(), heap, "-Djava.io.tmpdir="+temporary, "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS", "-cp", filepath.Join(c.jars, "*"), class)
	if name != jobServer {
		command = append(command, "--configDir", conf)
	}
	return startProcess(c.Folder, name, c.java, append(command, arguments...)...)
}

// startTimeout is how long the processes may take until the cluster takes jobs: some seconds, on an idle machine.
const startTimeout = 3 * time.Minute

// Ready waits until all TaskManagers have registered and the job server takes jobs. A process that has ended is an
// error, with the last lines of its log.
func (c *Cluster) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout,
		fmt.Errorf("after %v it still is not; the logs are in %s", startTimeout, filepath.Join(c.Folder, "log")))
	defer cancel()
	for {
		err := c.ready(ctx)
		if err == nil {
			return nil
		}
		running, listErr := Running(c.Folder)
		if listErr != nil {
			return listErr
		}
		if len(running) < c.TaskManagers+2 {
			return c.ended(running)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("waiting until Flink is ready (%w): %w", err, context.Cause(ctx))
		}
	}
}

func (c *Cluster) ready(ctx context.Context) error {
	var overview struct {
		TaskManagers int `json:"taskmanagers"`
		Slots        int `json:"slots-total"`
	}
	if err := c.get(ctx, "/overview", &overview); err != nil {
		return err
	}
	if want := c.TaskManagers * c.Slots; overview.TaskManagers != c.TaskManagers || overview.Slots != want {
		return fmt.Errorf("%d of %d TaskManagers, %d of %d slots", overview.TaskManagers, c.TaskManagers, overview.Slots, want)
	}
	connection, err := net.DialTimeout("tcp", c.Endpoint(), time.Second)
	if err != nil {
		return err
	}
	return connection.Close()
}

// get decodes an answer of the JobManager.
func (c *Cluster) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.REST()+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// ended returns the error of the first process that does not run.
func (c *Cluster) ended(running []Process) error {
	names := []string{jobManager, jobServer}
	for i := range c.TaskManagers {
		names = append(names, TaskManager(i+1))
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(running, func(p Process) bool { return p.Name == name })
	})
	log := filepath.Join(c.Folder, "log", names[0]+".log")
	return fmt.Errorf("starting Flink: %s has ended; its log %s ends: %s", names[0], log, tail(log))
}

// tail returns the last lines of a file in one line.
func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		file.Seek(max(0, info.Size()-1000), io.SeekStart)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// Flags returns the flags with which a command runs on a cluster whose TaskManagers start workers as processes, with
// the programs boot and worker of a folder.
func (c *Cluster) Flags(programs string) []string {
	return []string{
		"--runner=flink", "--endpoint=" + c.Endpoint(), "--flink_rest=" + strings.TrimPrefix(c.REST(), "http://"),
		fmt.Sprintf("--parallelism=%d", c.TaskManagers*c.Slots),
		"--environment_type=PROCESS", fmt.Sprintf(`--environment_config={"command":%q}`, filepath.Join(programs, "boot")),
		"--worker_binary=" + filepath.Join(programs, "worker"),
	}
}
