package model_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImportsNeitherBeamNorCloud holds the promise of the package's documentation, and that programs which import it
// stay static: a GPU's driver would make them dynamic.
func TestImportsNeitherBeamNorCloud(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Fatalf("go list gave %d packages", len(packages))
	}
	for _, p := range packages {
		for _, prefix := range []string{"github.com/apache/beam", "cloud.google.com/", "google.golang.org/api", "google.golang.org/grpc", "tagnet/stages",
			"tagnet/pipelines", "tagnet/model/engine/device/", "tagnet/model/gpu", "github.com/ebitengine/purego", "net/http"} {
			if strings.HasPrefix(p, prefix) {
				t.Errorf("the package depends on %s", p)
			}
		}
	}
}
