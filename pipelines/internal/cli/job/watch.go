package job

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// How often a job is looked at, and how long nothing of it may run before the user learns why.
var (
	watchEvery = 2 * time.Second
	patience   = 15 * time.Second
)

// watch looks at the job until ctx ends: at its counters, at its tasks if Flink's REST API is known, and
// tells the user once if nothing runs.
func (j *Job) watch(ctx context.Context, say func(format string, arguments ...any)) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	begun, said := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		j.count(ctx)
		tasks := j.flink.job(ctx, j.ID)
		j.setTasks(tasks)
		runs := tasks != nil && tasks.Tasks["running"]+tasks.Tasks["finished"] > 0 || j.pool != nil && j.pool.workers() > 0
		if runs {
			begun = time.Now()
		}
		if waited := time.Since(begun); waited >= patience && !said && !runs {
			if text := j.waitsFor(ctx, tasks, waited); text != "" {
				say("%s", text)
				said = true
			}
		}
	}
}

// waitsFor says what a job of which nothing runs waits for.
func (j *Job) waitsFor(ctx context.Context, tasks *flinkJob, waited time.Duration) string {
	since := fmt.Sprintf("job %s has been %s for %.0f s", j.ID, j.State(), waited.Seconds())
	slots := "free slots"
	if n := j.Options.Parallelism; n > 0 {
		slots = fmt.Sprintf("%d free slots (--parallelism)", n)
	}
	const remedy = "lower --parallelism, wait for other jobs, or start more TaskManagers; Ctrl-C cancels the job"
	var overview Overview
	switch {
	case tasks != nil && j.flink.get(ctx, "/overview", &overview) == nil:
		return fmt.Sprintf("%s and none of its tasks runs: it waits for %s, Flink has %d, of which %d are free; %s", since, slots, overview.Slots,
			overview.Free, remedy)
	case j.pool != nil:
		return fmt.Sprintf("%s and no worker was requested: it waits for %s, or its TaskManagers are not on this machine, as LOOPBACK needs; %s", since, slots,
			remedy)
	case ended(jobpb.JobState_Enum(jobpb.JobState_Enum_value[j.State()])):
		return ""
	case j.State() != jobpb.JobState_RUNNING.String():
		return fmt.Sprintf("%s: it waits for %s; %s", since, slots, remedy)
	case j.flink == nil && len(j.counters()) == 0:
		return fmt.Sprintf("%s and has reported no progress yet: either its first step takes long, or it waits for %s; --flink_rest HOST:PORT, the address "+
			"of Flink's web page, lets this command tell", since, slots)
	}
	return ""
}

// count reads the job's counters. Flink's job server has them only when the job has ended.
func (j *Job) count(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	measured, err := j.client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: j.ID})
	if err != nil {
		return
	}
	sums := map[string]int64{}
	results := metricsx.FromMonitoringInfos(j.pipeline, measured.GetMetrics().GetAttempted(), measured.GetMetrics().GetCommitted())
	for _, c := range results.AllMetrics().Counters() {
		sums[c.Name()] += max(c.Attempted, c.Committed)
	}
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	j.history.counters = sums
}

func (j *Job) counters() map[string]int64 {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	return j.history.counters
}

// setTasks keeps the tasks that Flink last told; nil leaves them.
func (j *Job) setTasks(tasks *flinkJob) {
	if tasks == nil {
		return
	}
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	j.history.tasks = tasks.Tasks
}

// Progress returns the value of a counter of this job, 0 if it is not known yet, and a note on its tasks
// at the cluster, or "".
func (j *Job) Progress(counter string) (count int64, note string) {
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	if t := j.history.tasks; t["total"] > 0 {
		note = fmt.Sprintf("%d of %d tasks done, %d running", t["finished"], t["total"], t["running"])
	}
	return j.history.counters[counter], note
}
