package job

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/artifact"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/proto"
)

// TestTheWorkersProgramHasANameAndAChecksum: without the name, job servers do not remove it after the job; by the
// checksum a host knows that it has the program.
func TestTheWorkersProgramHasANameAndAChecksum(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(binary, []byte("abc"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, root := beam.NewPipelineWithRoot()
	beam.Impulse(root)
	translated, err := Options{Environment: docker}.marshal(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := addBinary(translated, binary); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, environment := range translated.GetComponents().GetEnvironments() {
		for _, d := range environment.GetDependencies() {
			found++
			var role pipepb.ArtifactStagingToRolePayload
			if err := proto.Unmarshal(d.GetRolePayload(), &role); err != nil {
				t.Fatal(err)
			}
			if d.GetRoleUrn() != artifact.URNStagingTo || role.GetStagedName() != "worker" {
				t.Errorf("role %s %q, want the name worker", d.GetRoleUrn(), role.GetStagedName())
			}
			if path, _ := artifact.MustExtractFilePayload(d); path != binary {
				t.Errorf("path %s, want %s", path, binary)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d files, want 1", found)
	}
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // SHA-256 of abc
	if got := beam.PipelineOptions.Get(checksumOption); got != sum {
		t.Errorf("checksum %s, want %s", got, sum)
	}
}
