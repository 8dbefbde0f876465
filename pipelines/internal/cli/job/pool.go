package job

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// pool starts workers in this process for the runner of a LOOPBACK environment. Several TaskManagers
// of Flink number their workers independently and ask for the same worker IDs, so that Beam's own pool
// refuses the second one's workers; here the control endpoint tells them apart.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	address string
	server  *grpc.Server
	work    func(ctx context.Context, r *fnpb.StartWorkerRequest) // runs a worker until its runner or ctx ends it

	mu      sync.Mutex
	root    context.Context
	cancel  context.CancelFunc
	running map[workerKey]*running
	started int
}

// workerKey identifies a worker: its ID is unique at a control endpoint.
type workerKey struct{ control, id string }

type running struct{ stop context.CancelFunc }

// newPool starts a pool on a free port of this machine. stop ends it and its workers.
func newPool(ctx context.Context) (*pool, error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, fmt.Errorf("starting the worker pool of --environment_type LOOPBACK: %w", err)
	}
	p := &pool{address: listener.Addr().String(), server: grpc.NewServer(), work: work, running: map[workerKey]*running{}}
	p.root, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	go p.server.Serve(listener)
	return p, nil
}

func (p *pool) stop() {
	p.cancel()
	p.server.Stop()
}

func (p *pool) workers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// StartWorker starts a worker. One of the same ID and control endpoint, which a restarted job left behind, ends.
func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	control, logging := r.GetControlEndpoint(), r.GetLoggingEndpoint()
	if control == nil || logging == nil || control.GetAuthentication() != nil || logging.GetAuthentication() != nil {
		return &fnpb.StartWorkerResponse{Error: fmt.Sprintf("worker %s: a control and a logging endpoint without authentication are needed", r.GetWorkerId())},
			nil
	}
	key := workerKey{control.GetUrl(), r.GetWorkerId()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.root.Err() != nil {
		return &fnpb.StartWorkerResponse{Error: "the worker pool has ended"}, nil
	}
	if before := p.running[key]; before != nil {
		before.stop()
	}
	ctx, stop := context.WithCancel(grpcx.WriteWorkerID(p.root, r.GetWorkerId()))
	this := &running{stop}
	p.running[key] = this
	p.started++
	go func() {
		defer stop()
		p.work(ctx, r)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.running[key] == this {
			delete(p.running, key)
		}
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker stops nothing: the request names an ID without the control endpoint, so that the worker
// may be another TaskManager's. The right one ends when its TaskManager closes the control connection.
func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}

// work is a worker of Beam. Its runner learns of an error by the end of the connection.
func work(ctx context.Context, r *fnpb.StartWorkerRequest) {
	var options harness.Options
	if endpoint := r.GetProvisionEndpoint().GetUrl(); endpoint != "" {
		if info, err := tools.ProvisionInfo(ctx, endpoint); err == nil {
			options.StatusEndpoint, options.RunnerCapabilities = info.GetStatusEndpoint().GetUrl(), info.GetRunnerCapabilities()
		}
	}
	_ = harness.MainWithOptions(ctx, r.GetLoggingEndpoint().GetUrl(), r.GetControlEndpoint().GetUrl(), options)
}
