package command

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"tagnet/pipelines/internal/cli/job"
)

func dataflow() bool { return slices.Contains([]string{"dataflow", "DataflowRunner"}, *runners.Runner) }

// checkDataflow returns an error for what Dataflow needs and the flags lack. Beam would find it later, or
// look for a project and a region elsewhere.
func (e *Environment) checkDataflow() error {
	if !dataflow() {
		return nil
	}
	for _, needed := range []struct{ flag, value string }{
		{"project", "PROJECT, the Google Cloud project that runs the job"},
		{"region", "REGION, such as europe-west4"},
		{"staging_location", "gs://BUCKET/FOLDER, where the workers' program is copied to"},
	} {
		if flag.Lookup(needed.flag).Value.String() == "" {
			return Usage("--runner %s needs --%s %s", *runners.Runner, needed.flag, needed.value)
		}
	}
	if staging := flag.Lookup("staging_location").Value.String(); !strings.HasPrefix(staging, "gs://") {
		return FlagError("staging_location", staging, "gs://BUCKET/FOLDER")
	}
	return checkReachable("workspace", e.Workspace.Root())
}

// Reachable returns the URL by which workers find the file or folder of a flag, or an error if the runner's
// workers cannot read it.
func (e *Environment) Reachable(name, url string) (string, error) {
	if err := checkReachable(name, url); err != nil {
		return "", err
	}
	return absolute(name, url)
}

// absolute returns a path of this machine as the workers of a cluster find it, who have another working directory.
func absolute(name, url string) (string, error) {
	if !job.Selected() || strings.Contains(url, "://") {
		return url, nil
	}
	path, err := filepath.Abs(url)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", name, err)
	}
	return path, nil
}

func checkReachable(name, url string) error {
	if !dataflow() || !onThisMachine(url) {
		return nil
	}
	return fmt.Errorf("--%s %s is a folder of this machine, which the workers of Dataflow cannot reach: copy it to gs://bucket/prefix and give that", name, url)
}

// onThisMachine reports whether a file or folder is on this machine.
func onThisMachine(url string) bool {
	scheme, _, found := strings.Cut(url, "://")
	return !found || scheme == "file"
}
