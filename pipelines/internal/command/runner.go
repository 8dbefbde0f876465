package command

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"tagnet/pipelines/internal/job"
)

// otherRunners are the names of Beam's runners that receive no jobs at an endpoint. Beam ends the process
// without a message if it is given a name that is neither here nor in job.Runners.
var otherRunners = []string{"prism", "PrismRunner", "dataflow", "DataflowRunner", "direct", "DirectRunner", "dot"}

// checkRunner returns an error for an unknown --runner, and for one that lacks its --endpoint.
func checkRunner() error {
	name := *runners.Runner
	if job.Selected() {
		if *jobopts.Endpoint == "" {
			return Usage("--runner %s needs --endpoint HOST:PORT, where its job server listens", name)
		}
		return checkEnvironment()
	}
	if kind := *jobopts.EnvironmentType; dataflow() && kind != "" && !strings.EqualFold(kind, "DOCKER") {
		return FlagError("environment_type", kind, "DOCKER with --runner dataflow, whose workers are containers")
	}
	if name == "" || slices.Contains(otherRunners, name) {
		return nil
	}
	return FlagError("runner", name, strings.Join(slices.Concat(otherRunners, job.Runners), ", "))
}

// checkEnvironment returns an error for an --environment_type without what it takes: Beam would use the name of an image.
func checkEnvironment() error {
	if *jobopts.EnvironmentConfig != "" {
		return nil
	}
	switch kind := strings.ToUpper(*jobopts.EnvironmentType); kind {
	case "PROCESS":
		return Usage(`--environment_type PROCESS needs --environment_config='{"command":"/path/to/boot"}', the program that starts a worker on each host`)
	case "EXTERNAL":
		return Usage("--environment_type EXTERNAL needs --environment_config=HOST:PORT, where a worker pool listens")
	}
	return nil
}

// reachTimeout is how long a job server may take to accept a connection. Beam would wait for minutes
// and then not name the server.
const reachTimeout = 20 * time.Second

// reachEndpoint returns an error if no job server listens at --endpoint.
func reachEndpoint(ctx context.Context) error {
	endpoint := *jobopts.Endpoint
	if !job.Selected() {
		return nil
	}
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		return nil // a name that only gRPC resolves
	}
	dialer := net.Dialer{Timeout: reachTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return fmt.Errorf("reaching the job server of --runner %s at --endpoint %s: %w; start the job server, or open its port", *runners.Runner, endpoint, err)
	}
	return connection.Close()
}
