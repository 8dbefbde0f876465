package score

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
)

// TestDevice scores on a device: the metrics are those of the CPU, and what the device has completed stays complete.
func TestDevice(t *testing.T) {
	w := scoringtest.Trained(t, "inductive")
	flags := func(more ...string) []string { return append([]string{"--workspace", w, "--limit", "5"}, more...) }
	pipelinetest.Succeed(t, Pipeline(), flags("--device", "cpu")...)
	want := metricsOf(t, w, "test")
	card := pipelinetest.UseDevices(t, 1)[0]
	code, _, stderr := pipelinetest.Run(t, Pipeline(), flags("--force")...)
	if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (") {
		t.Fatalf("%d, %s, want what it computes on", code, stderr)
	}
	got := metricsOf(t, w, "test")
	if !cmp.Equal(got, want) || card.Count("score") == 0 {
		t.Errorf("metrics %+v on the device, %+v on the CPU; operations %q", got.Summary, want.Summary, card.Operations)
	}
	before := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation"))
	for _, device := range []string{"cpu", "cuda", "auto"} {
		if out := pipelinetest.Succeed(t, Pipeline(), flags("--device", device)...); !strings.Contains(out, "is complete") {
			t.Errorf("%s scores again: %s", device, out)
		}
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation")), before)

	two := pipelinetest.UseDevices(t, 2)
	code, _, stderr = pipelinetest.Run(t, Pipeline(), flags("--force", "--device", "cuda:all")...)
	if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (imaginary), cuda:1 (") {
		t.Fatalf("%d, %s, want that both devices are used", code, stderr)
	}
	if all := metricsOf(t, w, "test"); !cmp.Equal(all, got) || !cmp.Equal(two.Count("scorer"), []int{1, 1}) {
		t.Errorf("metrics %+v on two devices, %+v on one; scorers %v", all, got, two.Count("scorer"))
	}
}

// TestDeviceFails scores on devices that fail: the error is a line that says what to do, and auto scores on the CPU
// unless the device is lost in the middle, after which another run is complete.
func TestDeviceFails(t *testing.T) {
	for name, fault := range pipelinetest.Faults(0) {
		t.Run(name, func(t *testing.T) {
			w := scoringtest.Trained(t, "inductive")
			pipelinetest.UseFaulty(t, fault)
			flags := []string{"--workspace", w, "--limit", "5"}
			code, _, stderr := pipelinetest.Run(t, Pipeline(), append(flags, "--device", "cuda")...)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			if last := lines[len(lines)-1]; code != 1 || !strings.HasSuffix(last, fault.Err.Error()) || strings.Contains(stderr, "goroutine") {
				t.Errorf("cuda: %d, %s, want a line that ends in %q", code, stderr, fault.Err)
			}
			code, _, stderr = pipelinetest.Run(t, Pipeline(), flags...)
			switch {
			case name != "lost":
				if code != 0 || !strings.Contains(stderr, "computing on the CPU: ") || strings.Contains(stderr, "use --device cpu") {
					t.Errorf("auto: %d, %s, want that the CPU takes over", code, stderr)
				}
			case code != 1 || !strings.Contains(stderr, "the device was lost"):
				t.Errorf("auto: %d, %s, want that the device was lost", code, stderr)
			default:
				pipelinetest.UseDevices(t, 1)
				pipelinetest.Succeed(t, Pipeline(), flags...)
			}
			metricsOf(t, w, "test")
		})
	}
}
