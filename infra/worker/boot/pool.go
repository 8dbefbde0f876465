//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// workerPool is the service of an EXTERNAL environment: it starts and stops workers for one TaskManager. Beam's own
// pool keeps workers that have ended, and leaves the children of those that it stops.
type workerPool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	ctx context.Context

	mu      sync.Mutex
	stop    map[string]context.CancelFunc // of each worker that runs, by its name
	running sync.WaitGroup
}

// servePool serves until the context ends, and then ends all workers.
func servePool(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serving a worker pool: %w; --listen takes another address", err)
	}
	fmt.Printf("boot: a worker pool listens on %s\n", listener.Addr())
	p := &workerPool{ctx: ctx, stop: map[string]context.CancelFunc{}}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	defer context.AfterFunc(ctx, server.Stop)()
	err = server.Serve(listener)
	p.running.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving a worker pool: %w", err)
}

// StartWorker starts this program once more, as the boot of a worker.
func (p *workerPool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop[r.GetWorkerId()] != nil {
		return &fnpb.StartWorkerResponse{Error: fmt.Sprintf("a worker %s runs already: each TaskManager needs a worker pool of its own", r.GetWorkerId())}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting worker %s: %w", r.GetWorkerId(), err)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	boot := exec.CommandContext(ctx, self,
		"--id="+r.GetWorkerId(),
		"--provision_endpoint="+r.GetProvisionEndpoint().GetUrl(),
		"--logging_endpoint="+r.GetLoggingEndpoint().GetUrl(),
		"--artifact_endpoint="+r.GetArtifactEndpoint().GetUrl(),
		"--control_endpoint="+r.GetControlEndpoint().GetUrl())
	boot.Stdout, boot.Stderr = os.Stdout, os.Stderr
	boot.Cancel = func() error { return boot.Process.Signal(syscall.SIGTERM) }
	boot.WaitDelay = 2 * grace
	if err := boot.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("starting worker %s: %w", r.GetWorkerId(), err)
	}
	p.stop[r.GetWorkerId()] = cancel
	p.running.Go(func() {
		boot.Wait() // boot has logged why a worker failed
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.stop, r.GetWorkerId())
	})
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker ends a worker. One that has ended by itself is stopped already.
func (p *workerPool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stop := p.stop[r.GetWorkerId()]; stop != nil {
		stop()
	}
	return &fnpb.StopWorkerResponse{}, nil
}
