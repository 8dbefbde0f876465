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
)

// The names by which Beam knows its runners: those that are handed jobs at an endpoint, and
// the others. Beam ends the process without a word where it is given another.
var (
	jobRunners   = []string{"flink", "FlinkRunner", "spark", "SparkRunner", "universal", "portable", "PortableRunner"}
	otherRunners = []string{"prism", "PrismRunner", "dataflow", "DataflowRunner", "direct", "DirectRunner", "dot"}
)

// checkRunner finds a --runner that there is not, and one that lacks its --endpoint.
func checkRunner() error {
	name := *runners.Runner
	if slices.Contains(jobRunners, name) {
		if *jobopts.Endpoint == "" {
			return Usage("--runner %s needs --endpoint HOST:PORT, where its job server listens", name)
		}
		return nil
	}
	if name == "" || slices.Contains(otherRunners, name) {
		return nil
	}
	return FlagError("runner", name, strings.Join(slices.Concat(otherRunners, jobRunners), ", "))
}

// reachTimeout is how long a job server may take to answer at all. Beam would wait for minutes,
// and then not say for whom.
const reachTimeout = 20 * time.Second

// reachEndpoint fails where nobody listens at the job server's --endpoint.
func reachEndpoint(ctx context.Context) error {
	endpoint := *jobopts.Endpoint
	if !slices.Contains(jobRunners, *runners.Runner) {
		return nil
	}
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		return nil // a name that only gRPC resolves
	}
	dialer := net.Dialer{Timeout: reachTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return fmt.Errorf("reaching the job server of --runner %s at --endpoint %s: %w; is it started, and its port open?", *runners.Runner, endpoint, err)
	}
	return connection.Close()
}
