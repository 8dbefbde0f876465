package job

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/artifact"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"google.golang.org/protobuf/proto"
)

// binary returns the path of the program that workers run, and a function that removes what was made
// for it: the file of --worker_binary, else this program if every Linux host can run it, else one that the
// go command builds. In a LOOPBACK environment workers run none, but job servers want a file.
func (o Options) binary(ctx context.Context) (path string, remove func(), err error) {
	switch {
	case o.Environment == loopback:
		file, err := os.CreateTemp("", "no-worker-*")
		if err != nil {
			return "", nil, err
		}
		return file.Name(), func() { os.Remove(file.Name()) }, file.Close()
	case o.Worker != "":
		return o.Worker, func() {}, nil
	}
	self, err := os.Executable()
	if err == nil && static(self) {
		return self, func() {}, nil
	}
	return build(ctx)
}

// checksumOption is the option of a job with the SHA-256 of the workers' program, by which infra/worker/boot knows
// whether a host has it. Job servers drop the checksum of a file.
const checksumOption = "worker_sha256"

// addBinary makes a file the workers' program of a pipeline. It gets a name: a job server keeps a file without one
// under its whole path, and then does not find it where it removes the files of a job that has ended.
func addBinary(p *pipepb.Pipeline, binary string) error {
	if err := runnerlib.UpdateGoEnvironmentWorker(binary, p); err != nil {
		return err
	}
	role, err := proto.Marshal(&pipepb.ArtifactStagingToRolePayload{StagedName: "worker"})
	if err != nil {
		return err
	}
	for _, environment := range p.GetComponents().GetEnvironments() {
		for _, d := range environment.GetDependencies() {
			if d.GetRoleUrn() != graphx.URNArtifactGoWorkerRole {
				continue
			}
			var file pipepb.ArtifactFilePayload
			if err := proto.Unmarshal(d.GetTypePayload(), &file); err != nil {
				return err
			}
			beam.PipelineOptions.Set(checksumOption, file.GetSha256())
			d.RoleUrn, d.RolePayload = artifact.URNStagingTo, role
		}
	}
	return nil
}

// Program describes the program that workers run, and reports whether something about it is doubtful.
func (o Options) Program() (text string, doubtful bool) {
	if o.Environment == loopback {
		return "this process", false
	}
	path, from := o.Worker, "--worker_binary"
	if path == "" {
		self, err := os.Executable()
		if err != nil || !static(self) {
			return o.Environment + ", with a program that is built first, which takes a minute; --worker_binary gives one", false
		}
		path, from = self, "this program"
	}
	info, err := os.Stat(path)
	if err != nil {
		return err.Error(), true
	}
	text = fmt.Sprintf("%s, with %s (%s, %d MiB", o.Environment, path, from, info.Size()>>20)
	if !static(path) {
		return text + "): it needs the shared libraries of this machine on every host; CGO_ENABLED=0 go build ./infra/worker makes one that does not", true
	}
	return text + ", static)", false
}

// static reports whether a file is a Linux program for this kind of processor that needs no shared
// libraries of its host.
func static(path string) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	program, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

// workerPackage is the program of the workers of every command.
const workerPackage = "tagnet/infra/worker"

// build compiles the workers' program for Linux. That takes a minute or more the first time.
func build(ctx context.Context) (path string, remove func(), err error) {
	file, err := os.CreateTemp("", "worker-*")
	if err != nil {
		return "", nil, err
	}
	file.Close()
	remove = func() { os.Remove(file.Name()) }
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file.Name(), workerPackage)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if said, err := command.CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("building the workers' program: %w: %s; build it in tagnet's folder with CGO_ENABLED=0 go build ./infra/worker, and "+
			"give it with --worker_binary",
			err, strings.Join(strings.Fields(string(said)), " "))
	}
	return file.Name(), remove, nil
}
