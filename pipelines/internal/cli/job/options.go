package job

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
)

// Runners are the values of --runner whose jobs go to a job server at --endpoint.
var Runners = []string{"flink", "FlinkRunner", "spark", "SparkRunner", "universal", "portable", "PortableRunner"}

// Selected reports whether --runner names one of Runners.
func Selected() bool { return slices.Contains(Runners, *runners.Runner) }

// Options are Beam's flags that decide how a job runs.
type Options struct {
	Runner string `json:"runner"`
	// Name is the job's; a job server adds to it what makes it unique.
	Name        string `json:"name,omitempty"`
	Endpoint    string `json:"endpoint,omitempty"`
	Parallelism int    `json:"parallelism,omitempty"`
	// Environment is LOOPBACK, PROCESS, DOCKER or EXTERNAL, Configuration what it takes: a command or an image.
	Environment   string `json:"environment"`
	Configuration string `json:"environment_config,omitempty"`
	// Worker is the path of the workers' binary, empty if one is compiled.
	Worker      string   `json:"worker_binary,omitempty"`
	Experiments []string `json:"experiments,omitempty"`
}

// FromFlags returns the options that the flags give. Their name is empty without --job_name.
func FromFlags() Options {
	o := Options{
		Name: *jobopts.JobName, Runner: *runners.Runner, Endpoint: *jobopts.Endpoint, Parallelism: max(0, *jobopts.Parallelism),
		Environment: strings.ToUpper(*jobopts.EnvironmentType), Configuration: *jobopts.EnvironmentConfig,
		Worker: *jobopts.WorkerBinary, Experiments: jobopts.GetExperiments(),
	}
	if o.Environment == "" {
		o.Environment = docker
	}
	return o
}

// The values of --environment_type that are treated in a particular way; Beam's default is DOCKER.
const (
	loopback = "LOOPBACK"
	docker   = "DOCKER"
)

// marshal translates a pipeline for a job server. pool is the address of the worker pool in a
// LOOPBACK environment.
func (o Options) marshal(ctx context.Context, p *beam.Pipeline, pool string) (*pipepb.Pipeline, error) {
	edges, _, err := p.Build()
	if err != nil {
		return nil, err
	}
	configuration := jobopts.GetEnvironmentConfig
	if o.Environment == loopback {
		configuration = func(context.Context) string { return pool }
	}
	urn := map[string]string{"PROCESS": "beam:env:process:v1", loopback: "beam:env:external:v1", "EXTERNAL": "beam:env:external:v1"}[o.Environment]
	if urn == "" {
		urn = "beam:env:docker:v1"
	}
	environment, err := graphx.CreateEnvironment(ctx, urn, configuration)
	if err != nil {
		return nil, err
	}
	return graphx.Marshal(edges, &graphx.Options{Environment: environment, PipelineResourceHints: jobopts.GetPipelineResourceHints()})
}
