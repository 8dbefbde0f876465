package engine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/manifest"
	"tagnet/formats/metrics"
	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
)

// events returns the events of a text: b begins a training, r resumes one, e ends one that took 10 seconds of processor time.
func events(text string) (all []event) {
	for _, c := range text {
		all = append(all, event{Stage: trainStage, Ended: c == 'e', Resumed: c == 'r', Commit: string(c), CPUSeconds: map[rune]float64{'e': 10}[c]})
	}
	return all
}

func TestTraining(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		commit string
		cpu    float64
	}{
		"":     {"", 0},
		"be":   {"e", 10},
		"bere": {"e", 20},
		"b":    {"b", 0}, // this command was killed, and the process went on
		"br":   {"r", 0},
		"bre":  {"e", 0}, // the first process was killed
		"re":   {"e", 0}, // another program trained first
		"rere": {"e", 0},
	} {
		if got := training(events(text)); got.known != (want.commit != "") || got.Commit != want.commit || got.cpuSeconds != want.cpu {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	j := journal(filepath.Join(t.TempDir(), "logs", "run.journal"))
	if all, err := j.read(); len(all) > 0 || err != nil {
		t.Errorf("a journal that does not exist: %v, error %v", all, err)
	}
	for _, e := range append(events("be"), event{Stage: "test", Ended: true, Seconds: 3}) {
		if err := j.append(e); err != nil {
			t.Fatal(err)
		}
	}
	all, err := j.read()
	if err != nil || len(all) != 3 || scored(all, "test") != 3 || scored(all, "other") != 0 {
		t.Errorf("%+v, error %v", all, err)
	}
	info, err := os.Stat(string(j))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(string(j), info.Size()-9); err != nil {
		t.Fatal(err)
	}
	if all, err := j.read(); len(all) != 2 || err != nil {
		t.Errorf("a last line that was cut short: %d events, error %v", len(all), err)
	}
	if err := j.append(event{Stage: "other", Ended: true, Seconds: 4}); err != nil {
		t.Fatal(err)
	}
	if all, err := j.read(); len(all) != 3 || err != nil || scored(all, "other") != 4 {
		t.Errorf("after a line that was cut short: %+v, error %v", all, err)
	}
}

// TestTrainingBeginsItsJournal checks that the processes of a training that was removed do not count for the next one.
func TestTrainingBeginsItsJournal(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	e := Engine{Folders: Folders{State: t.TempDir()}, Processes: &Processes{}, Program: Program{Path: program}}
	r := plan.Run{Dataset: "a", Experiment: "fixed", Seed: 1}
	for _, c := range []struct {
		state State
		want  int
	}{{Missing, 2}, {Interrupted, 4}, {Missing, 2}} {
		if err := e.train(r, Status{State: c.state}, 1); err != nil {
			t.Fatal(err)
		}
		if all, err := e.journal(r).read(); len(all) != c.want || err != nil {
			t.Errorf("%s: %d events, want %d, error %v", c.state, len(all), c.want, err)
		}
	}
}

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
	result, err := results.Read(t.Context(), "../../../../formats/results/testdata/result.json")
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

func TestEstimates(t *testing.T) {
	t.Parallel()
	of := func(dataset, delta string, seed int64) plan.Run {
		return plan.Run{Dataset: dataset, Experiment: "fixed", Varied: map[string]string{"delta": delta}, Seed: seed}
	}
	var e Estimates
	if _, known := e.Seconds(of("a", "1", 1), 2); known {
		t.Error("an estimate without results")
	}
	e.Observe(of("b", "1", 1), results.Training{}, 1)
	e.Observe(of("b", "1", 1), results.Training{Epochs: 2, Seconds: 8}, 2)
	for seed, seconds := range []float64{10, 12, 90} {
		e.Add(of("a", "1", int64(seed)), results.Result{Training: results.Training{Epochs: 2, Seconds: seconds}, Machine: results.Machine{Threads: 2}})
	}
	e.Add(of("a", "2", 1), results.Result{Training: results.Training{Epochs: 1, Seconds: 9, CPUSeconds: 1}})
	e.Add(of("d", "1", 1), results.Result{Training: results.Training{Epochs: 1, Seconds: 5, CPUSeconds: 1}, Machine: results.Machine{Device: "H100"}})
	full := of("a", "3", 7)
	full.Configuration.Policy = configuration.PolicyFull
	for _, c := range []struct {
		run  plan.Run
		want float64
	}{{full, 0}, {of("a", "1", 7), 3 * 12}, {of("a", "2", 7), 3 * 1}, {of("a", "3", 7), 3 * 12}, {of("b", "1", 7), 3 * 8}, {of("b", "2", 7), 3 * 8}, {of("c", "1", 7), 0}, {of("d", "1", 7), 3 * 5}} {
		if got, _ := e.Seconds(c.run, 3); got != c.want {
			t.Errorf("%s: %v seconds, want %v", c.run.ID(), got, c.want)
		}
	}
}
