package progress

import (
	"context"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"tagnet/stages/worker"
)

const pollEvery = 300 * time.Millisecond

// Follow sets the bar to the value of a counter until stop is called: its count in this process or,
// if the workers run elsewhere, the job endpoint's metric. Without an answer of the runner
// (Dataflow) it shows no progress.
func (b *Bar) Follow(ctx context.Context, name string) (stop func()) {
	return b.FollowFrom(ctx, name, 0)
}

// FollowFrom is Follow for a step of several jobs, of which earlier ones did before units.
func (b *Bar) FollowFrom(ctx context.Context, name string, before int64) (stop func()) {
	since := worker.Counted(name)
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		follow(ctx, name, since, func(n int64) { b.Set(before + n) })
	}()
	return func() {
		cancel()
		done.Wait()
	}
}

// follow calls show with the counter's increase in this process since the given value or, if there
// is none, with its sum over the endpoint's jobs.
func follow(ctx context.Context, name string, since int64, show func(int64)) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var client jobpb.JobServiceClient
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n := worker.Counted(name) - since; n > 0 {
			show(n)
			continue
		}
		if client == nil {
			if *jobopts.Endpoint == "" {
				continue
			}
			connection, err := grpcx.Dial(ctx, *jobopts.Endpoint, 5*time.Second)
			if err != nil {
				return
			}
			defer connection.Close()
			client = jobpb.NewJobServiceClient(connection)
		}
		if n, ok := poll(ctx, client, name); ok {
			show(n)
		}
	}
}

// poll returns the sum of a counter over the steps of all running jobs.
func poll(ctx context.Context, client jobpb.JobServiceClient, name string) (sum int64, found bool) {
	jobs, err := client.GetJobs(ctx, &jobpb.GetJobsRequest{})
	if err != nil {
		return 0, false
	}
	for _, job := range jobs.GetJobInfo() {
		if job.GetState() != jobpb.JobState_RUNNING {
			continue
		}
		measured, err := client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: job.GetJobId()})
		if err != nil {
			continue
		}
		graph, err := client.GetPipeline(ctx, &jobpb.GetJobPipelineRequest{JobId: job.GetJobId()})
		if err != nil {
			continue
		}
		results := metricsx.FromMonitoringInfos(graph.GetPipeline(), measured.GetMetrics().GetAttempted(), measured.GetMetrics().GetCommitted())
		for _, c := range results.AllMetrics().Counters() {
			if c.Name() == name {
				sum += max(c.Attempted, c.Committed)
				found = true
			}
		}
	}
	return sum, found
}
