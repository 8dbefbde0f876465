package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"google.golang.org/grpc/resolver"

	"tagnet/pipelines/internal/cli/job"
)

// otherRunners are the names of Beam's runners that receive no jobs at an endpoint. Beam ends the process
// without a message if it is given a name that is neither here nor in job.Runners.
var otherRunners = []string{localRunner, "DirectRunner", "dataflow", "DataflowRunner"}

// checkRunner returns an error for an unknown --runner, and for one that lacks its --endpoint.
func checkRunner() error {
	name := *runners.Runner
	if job.Selected() {
		if *jobopts.Endpoint == "" {
			return Usage("--runner %s needs --endpoint HOST:PORT, where its job server listens", name)
		}
		if scheme, _, url := strings.Cut(*jobopts.Endpoint, "://"); url && resolver.Get(scheme) == nil || !strings.Contains(*jobopts.Endpoint, ":") {
			return FlagError("endpoint", *jobopts.Endpoint, "HOST:PORT, where the job server listens, not a URL")
		}
		return checkEnvironment()
	}
	if kind := *jobopts.EnvironmentType; dataflow() && kind != "" && !strings.EqualFold(kind, "DOCKER") {
		return FlagError("environment_type", kind, "DOCKER with --runner dataflow, whose workers are containers")
	}
	if Local() && *jobopts.Endpoint != "" {
		return Usage("--endpoint %s needs --runner, such as flink: without it the command would run in this process", *jobopts.Endpoint)
	}
	if name == "" || slices.Contains(otherRunners, name) {
		return nil
	}
	if name == "prism" || name == "PrismRunner" {
		return Usage("--runner %s would let anybody who reaches its port run programs here: leave the flag out, or start Prism and give --runner universal "+
			"--endpoint HOST:PORT", name)
	}
	return FlagError("runner", name, strings.Join(slices.Concat(otherRunners, job.Runners), ", "))
}

// checkEnvironment returns an error for an --environment_type without what it takes: Beam would use
// the name of an image.
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

// greetTimeout is how long a job server may take to greet. Its start of a connection takes one round trip.
const greetTimeout = 10 * time.Second

// reachEndpoint returns an error if no job server listens at --endpoint.
func reachEndpoint(ctx context.Context) error {
	endpoint := strings.TrimPrefix(*jobopts.Endpoint, "dns:///")
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
	defer connection.Close()
	if greets(connection) {
		return nil
	}
	what := "does not greet as a job server does"
	if job.AnswersHTTP(ctx, endpoint) {
		what = "answers HTTP, as Flink's page does"
	}
	return fmt.Errorf("--endpoint %s: what listens there %s; give the address of the job server, usually on port 8099", endpoint, what)
}

// settings is the type of the frame with which both sides of HTTP/2 begin, which gRPC speaks.
const settings = 4

// greets reports whether a server begins as one of gRPC does, which sends its settings without being asked.
func greets(connection net.Conn) bool {
	if err := connection.SetDeadline(time.Now().Add(greetTimeout)); err != nil {
		return false
	}
	if _, err := io.WriteString(connection, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil { // empty settings
		return false
	}
	var header [9]byte // of a frame: length, type, flags, and stream 0
	_, err := io.ReadFull(connection, header[:])
	return err == nil && header[3] == settings && [4]byte(header[5:]) == [4]byte{}
}
