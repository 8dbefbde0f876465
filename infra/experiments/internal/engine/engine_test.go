package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

func TestLastLine(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"":                                      "",
		"a\nb\n\n  \n":                          "b",
		"training  5%\rtraining  6%\rit failed": "it failed",
	} {
		if err := os.WriteFile(log, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := lastLine(log); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDevice(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("computing on cuda:0 (NVIDIA H100 80GB HBM3)\nepoch 1 of 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := device(log); got != "NVIDIA H100 80GB HBM3" {
		t.Errorf("the device is %q", got)
	}
	if got := device(log + "none"); got != "" {
		t.Errorf("without a log the device is %q", got)
	}
}

func TestDeviceOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kernels      []string
		logged, want string
	}{
		{[]string{"avx512"}, "", ""},
		{[]string{"avx512"}, "H100", ""}, // trained again on the processor
		{[]string{"cuda", "avx512"}, "H100", "H100"},
		{[]string{"cuda"}, "", "cuda"},
	} {
		if got := deviceOf(c.kernels, c.logged); got != c.want {
			t.Errorf("%v, %q: %q, want %q", c.kernels, c.logged, got, c.want)
		}
	}
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	r := plan.Run{Seed: 1, Configuration: configuration.Default(), Validation: metrics.Validation{Every: 1}}
	text := r.Configuration.String()
	for _, c := range []struct {
		old, new string
		seed     int64
		limit    int64
		want     string
	}{
		{"", "", 1, 0, ""},
		{`"delta": 2`, `"delta": 3`, 1, 0, "delta 3 instead of 2"},
		{`"delta": 2`, `"delta": 3`, 2, 0, "delta 3 instead of 2, seed 2 instead of 1"},
		{`"dropout": 0,`, ``, 1, 0, ""}, // of a version that had no dropout
		{`"dropout": 0,`, `"dropout": 0, "share_states": true,`, 1, 0, "share_states true instead of false"},
		{"", "", 1, 5, "validation every 1 epochs of at most 5 queries instead of 1 and 0"},
		{`"layers": 6`, `"layers": "x"`, 1, 0, "a configuration that cannot be read: "},
	} {
		got := differs(r, json.RawMessage(strings.Replace(text, c.old, c.new, 1)), c.seed, metrics.Validation{Every: 1, Limit: c.limit})
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.new, got, c.want)
		}
	}
}

// TestInspectComparesTheData checks that a result counts only for the dataset that it was made from, not for another one of that name.
func TestInspectComparesTheData(t *testing.T) {
	t.Parallel()
	result, err := results.Read(t.Context(), "../../../../formats/workspace/results/testdata/result.json")
	if err != nil {
		t.Fatal(err)
	}
	e := Engine{Folders: Folders{Results: t.TempDir(), State: t.TempDir()}}
	r := plan.Run{
		Dataset: result.Dataset, Source: result.Dataset, Experiment: result.Experiment, Varied: result.Varied, Seed: result.Seed,
		Configuration: configuration.Default(), Validation: metrics.Validation{Every: 1}, Protocols: []string{results.TestProtocol},
	}
	result.Configuration = json.RawMessage(r.Configuration.String())
	if err := results.Write(t.Context(), e.Results, result); err != nil {
		t.Fatal(err)
	}
	if s, err := e.Inspect(t.Context(), r, false); s.State != Done || err != nil {
		t.Errorf("%s (%s), error %v", s.State, s.Why, err)
	}
	r.Source = "data/WN18RR_v1"
	if s, err := e.Inspect(t.Context(), r, false); s.State != Stale || !strings.HasSuffix(s.Why, "--dataset data/WN18RR_v1") || err != nil {
		t.Errorf("of another dataset: %s (%s), error %v", s.State, s.Why, err)
	}
	s, err := e.Inspect(t.Context(), r, true)
	if s.State != Missing || !s.OtherData || err != nil {
		t.Errorf("with force: %+v, error %v", s, err)
	}
	s.State, s.Unscored = Trained, nil
	if n := e.CollectAll(t.Context(), []plan.Run{r}, []Status{s}, true, func(e Event) { t.Errorf("told %+v", e) }); n != 0 {
		t.Errorf("collected %d", n)
	}
}

// TestEvaluates checks that an evaluation counts only for the weights that it was made with.
func TestEvaluates(t *testing.T) {
	t.Parallel()
	f := Folders{State: t.TempDir()}
	r := plan.Run{Dataset: "a", Experiment: "fixed", Seed: 1}
	best := checkpoint.Record{Weights: manifest.File{SHA256: "new"}}
	if f.evaluates(t.Context(), r, "test", best) {
		t.Error("an evaluation that does not exist")
	}
	for _, weights := range []string{"old", "new"} {
		err := manifest.Write(t.Context(), f.evaluation(r, "test"), manifest.Manifest{Stage: "score", Configuration: json.RawMessage(`{"weights":"` + weights + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.evaluates(t.Context(), r, "test", best); got != (weights == "new") {
			t.Errorf("an evaluation of the %s weights: %v", weights, got)
		}
	}
}
