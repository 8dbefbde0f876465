//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/artifact"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"tagnet/formats/workspace/manifest"
)

// checksumOption is the option of a job with the SHA-256 of its worker program. Runners do not pass on the checksum of
// a file of the job.
const checksumOption = "worker_sha256"

// grace is the time that a worker has to end after a SIGTERM.
const grace = 5 * time.Second

// runWorker runs the worker until it ends or the context does, and leaves neither processes nor files.
func runWorker(ctx context.Context) error {
	services := grpcx.WriteWorkerID(ctx, *id)
	info, err := tools.ProvisionInfo(services, *provision)
	if err != nil {
		return fmt.Errorf("reading how to start worker %s from %s: %w", *id, *provision, err)
	}
	if err := endpoints(info); err != nil {
		return err
	}
	var printed lastLines
	err = startAndWait(services, info, &printed)
	if ctx.Err() != nil {
		return nil // it was ended: nobody reads why
	}
	if err == nil {
		err = errors.New("it ended by itself")
	}
	report(services, fmt.Sprintf("worker %s: %v\n%s", *id, err, printed.text))
	return err
}

// report logs a message through the runner, which does not show what boot or the worker prints: without it a panic is
// lost. A runner that is gone does not keep it waiting.
func report(ctx context.Context, message string) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		logger := &tools.Logger{Endpoint: *logging}
		logger.Errorf(ctx, "%s", message)
		time.Sleep(time.Second / 2) // closing a stream of gRPC drops what was not sent
		logger.Close()
	}()
	select {
	case <-sent:
	case <-time.After(grace):
	}
}

// lastLines keeps the end of what a worker prints.
type lastLines struct{ text []byte }

// Write never fails, and never waits: a worker that prints must not be held up.
func (l *lastLines) Write(text []byte) (int, error) {
	const most = 16 << 10
	l.text = append(l.text, text...)
	l.text = l.text[max(0, len(l.text)-most):]
	return len(text), nil
}

// endpoints sets the addresses of the services, of which those of the provision service have precedence.
func endpoints(info *fnpb.ProvisionInfo) error {
	for _, service := range []struct {
		name    string
		address *string
		newer   *pipepb.ApiServiceDescriptor
	}{
		{"logging_endpoint", logging, info.GetLoggingEndpoint()},
		{"artifact_endpoint", artifacts, info.GetArtifactEndpoint()},
		{"control_endpoint", control, info.GetControlEndpoint()},
	} {
		if url := service.newer.GetUrl(); url != "" {
			*service.address = url
		}
		if *service.address == "" {
			return fmt.Errorf("--%s is not given, and %s does not name it", service.name, *provision)
		}
	}
	return nil
}

func startAndWait(ctx context.Context, info *fnpb.ProvisionInfo, output io.Writer) error {
	folder, err := os.MkdirTemp("", "tagnet-worker-*")
	if err != nil {
		return fmt.Errorf("making a folder for the worker: %w", err)
	}
	defer os.RemoveAll(folder)
	program, err := binary(ctx, info, folder)
	if err != nil {
		return err
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("reading the job's options: %w", err)
	}
	file := filepath.Join(folder, "pipeline_options.json")
	if err := os.WriteFile(file, []byte(options), 0o600); err != nil {
		return fmt.Errorf("writing the job's options: %w", err)
	}

	worker := exec.CommandContext(ctx, program,
		"--worker=true", "--id="+*id, "--logging_endpoint="+*logging, "--control_endpoint="+*control)
	worker.Env = append(os.Environ(), "TMPDIR="+folder, "PIPELINE_OPTIONS_FILE="+file)
	if url := info.GetStatusEndpoint().GetUrl(); url != "" {
		worker.Env = append(worker.Env, "STATUS_ENDPOINT="+url)
	}
	if c := info.GetRunnerCapabilities(); len(c) > 0 {
		worker.Env = append(worker.Env, "RUNNER_CAPABILITIES="+strings.Join(c, " "))
	}
	worker.Stdout, worker.Stderr = output, output
	worker.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	worker.Cancel = func() error { return syscall.Kill(-worker.Process.Pid, syscall.SIGTERM) }
	worker.WaitDelay = grace
	if err := worker.Start(); err != nil {
		return fmt.Errorf("starting the worker: %w", err)
	}
	defer syscall.Kill(-worker.Process.Pid, syscall.SIGKILL) // what it started, and did not end
	return worker.Wait()
}

// binary returns the path of the job's worker program. That is the file worker beside this program where it has the
// checksum that the job names, as in an image; any other is downloaded into the folder.
func binary(ctx context.Context, info *fnpb.ProvisionInfo, folder string) (string, error) {
	want, _ := tools.ParseOptionsFromProto(info.GetPipelineOptions(), "go_options").GetString(checksumOption)
	if here, err := os.Executable(); err == nil && want != "" {
		installed := filepath.Join(filepath.Dir(here), "worker")
		if file, err := manifest.HashFile(ctx, installed); err == nil && file.SHA256 == want {
			return installed, nil
		}
	}
	files, err := artifact.Materialize(ctx, *artifacts, info.GetDependencies(), info.GetRetrievalToken(), folder)
	if err != nil {
		return "", fmt.Errorf("downloading the worker from %s: %w", *artifacts, err)
	}
	for _, file := range files {
		// Runners that drop the role leave the worker as the only file.
		if file.GetRoleUrn() == artifact.URNGoWorkerBinaryRole || len(files) == 1 {
			name, _ := artifact.MustExtractFilePayload(file)
			path := filepath.Join(folder, name)
			return path, os.Chmod(path, 0o700)
		}
	}
	return "", fmt.Errorf("none of the job's %d files is a worker of the Go SDK; submit it with --worker_binary", len(files))
}
