package job

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// Job is a job that a job server has accepted.
type Job struct {
	// ID names the job at its job server. On Flink it is the job's name there.
	ID string
	// Options are the options of Submit.
	Options Options

	client     jobpb.JobServiceClient
	connection *grpc.ClientConn
	pipeline   *pipepb.Pipeline
	pool       *pool  // nil unless the environment is LOOPBACK
	flink      *Flink // nil unless its REST API is known
	history    history
}

// submitTimeout bounds the request that starts a job. Flink's job server answers before the job starts.
const submitTimeout = time.Minute

// Submit sends a pipeline to the job server. Close releases what a Job holds here, and ends the workers
// of a LOOPBACK environment. If ctx is canceled before the job is accepted, none is started.
func Submit(ctx context.Context, p *beam.Pipeline, o Options) (_ *Job, err error) {
	j := &Job{Options: o}
	defer func() {
		if err != nil {
			j.Close()
		}
	}()
	address := ""
	if o.Environment == loopback {
		if j.pool, err = newPool(ctx); err != nil {
			return nil, err
		}
		address = j.pool.address
	}
	if j.pipeline, err = o.marshal(ctx, p, address); err != nil {
		return nil, err
	}
	// The job carries the program that workers run.
	binary, remove, err := o.binary(ctx)
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := addBinary(j.pipeline, binary); err != nil {
		return nil, fmt.Errorf("reading the workers' program %s: %w", binary, err)
	}
	if j.connection, err = grpcx.Dial(ctx, o.Endpoint, time.Minute); err != nil {
		return nil, fmt.Errorf("reaching the job server of --runner %s at --endpoint %s: %w", o.Runner, o.Endpoint, err)
	}
	j.client = jobpb.NewJobServiceClient(j.connection)
	// Prepare announces the job, Stage sends the program.
	prepared, artifacts, token, err := runnerlib.Prepare(ctx, j.client, j.pipeline, &runnerlib.JobOptions{
		Name: o.Name, Experiments: o.Experiments, Worker: binary, RetainDocker: *jobopts.RetainDockerContainers,
		Parallelism: *jobopts.Parallelism, Loopback: o.Environment == loopback,
	})
	if err != nil {
		return nil, fmt.Errorf("the job server at --endpoint %s refuses the job: %w", o.Endpoint, err)
	}
	token, err = runnerlib.Stage(ctx, prepared, artifacts, binary, token)
	if err != nil {
		return nil, fmt.Errorf("sending the workers' program to the job server's artifact port %s: %w; open that port, or start the job server with an "+
			"address that this machine reaches", artifacts, err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	// From here on ctx does not cancel: a job that starts without this program knowing its id could not be canceled.
	running, cancel := context.WithTimeout(context.WithoutCancel(ctx), submitTimeout)
	defer cancel()
	if j.ID, err = runnerlib.Submit(running, j.client, prepared, token); err != nil {
		return nil, fmt.Errorf("the job server at --endpoint %s does not start the job: %w", o.Endpoint, err)
	}
	if j.flink, _, err = FindFlink(ctx, o); err != nil {
		slog.Warn(err.Error()) // the job runs without it
	}
	return j, nil
}

// Close releases the connection and ends the worker pool. It does not cancel the job.
func (j *Job) Close() {
	if j.pool != nil {
		j.pool.stop()
	}
	if j.connection != nil {
		j.connection.Close()
	}
}
