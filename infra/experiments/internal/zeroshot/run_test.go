package zeroshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/engine"
)

// standIn lets this test's program be the tagnet of a Runner: it fails where its value says, and score writes metrics.
const standIn = "TAGNET_ZEROSHOT_STAND_IN"

func TestMain(m *testing.M) {
	if does := os.Getenv(standIn); does != "" {
		os.Exit(pretend(does, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// pretend is a command of tagnet. The MRR of score is .5, or .75 with a checkpoint.
func pretend(does string, arguments []string) int {
	if arguments[0] == does {
		fmt.Println(does, "cannot do this")
		return 1
	}
	if arguments[0] == "train" && does == "wait" {
		time.Sleep(time.Minute)
	}
	if arguments[0] != "score" {
		return 0
	}
	value := func(flag string) string { return arguments[slices.Index(arguments, flag)+1] }
	e := metrics.Evaluation{Messages: 10, Distinct: 3}
	e.Queries, e.Unreached, e.Pessimistic.MRR = 4, 1, .5
	if slices.Contains(arguments, "--checkpoint") {
		e.Pessimistic.MRR = .75
	}
	text, err := json.Marshal(e)
	if err != nil {
		return 2
	}
	folder := filepath.Join(value("--workspace"), "runs", value("--run"), "evaluation", value("--protocol"))
	if os.MkdirAll(folder, 0o750) != nil || os.WriteFile(filepath.Join(folder, metrics.File), text, 0o600) != nil {
		return 2
	}
	return 0
}

// write writes a file and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// example returns a runner with the data of an inductive graph and the weights of a model.
func example(t *testing.T, does string) (*Runner, Graph, Weights) {
	t.Helper()
	t.Setenv(standIn, does)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	r := &Runner{
		Data: filepath.Join(root, "data"), State: filepath.Join(root, "state"), Results: filepath.Join(root, "results"),
		Program: engine.Program{Path: self, Commit: "c0"}, Processes: &engine.Processes{}, Memory: 100,
	}
	for file, text := range map[string]string{
		"g/train.txt": "a\tr\tb\n", "g_ind/train.txt": "c\tr\td\nd\tr\te\n", "g_ind/valid.txt": "c\tr\te\n", "g_ind/test.txt": "e\tr\tc\ne\tr\td", "m.pth": "weights",
	} {
		write(t, filepath.Join(r.Data, file), text)
	}
	w, err := Model{Name: "m", Epochs: 2}.OpenFile(t.Context(), filepath.Join(r.Data, "m.pth"))
	if err != nil {
		t.Fatal(err)
	}
	return r, Graph{Name: "g", Folder: "g_ind", Training: "g", Protocol: metrics.ValidAndTest, Tuned: true}, w
}

// measure inspects and measures, and returns the item before, the commands that ran without the memory, and the error.
func measure(t *testing.T, r *Runner, g Graph, w Weights) (before Item, commands string, err error) {
	t.Helper()
	log := filepath.Join(r.State, "logs", "g", "m.log")
	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	before, err = r.Inspect(t.Context(), g, w)
	if err != nil {
		t.Fatal(err)
	}
	after := before
	err = r.Measure(t.Context(), &after)
	text, unread := os.ReadFile(log)
	if unread != nil {
		t.Fatal(unread)
	}
	for line := range strings.Lines(string(text)) {
		if _, command, ok := strings.Cut(line, ": tagnet "); ok {
			command = strings.NewReplacer(r.State, "S", r.Data, "D", " --memory 100", "", " --device cpu", "").Replace(command)
			commands += command
		}
	}
	return before, commands, err
}

// TestMeasure checks the commands of a graph with a model, its result, and what is measured again after a change.
func TestMeasure(t *testing.T) {
	r, g, w := example(t, "nothing fails")
	r.Tune = true
	_, commands, err := measure(t, r, g, w)
	if err != nil {
		t.Fatal(err)
	}
	const want = `preprocess --workspace S/workspaces/g/m --dataset D/g --inference D/g_ind
score --workspace S/workspaces/g/m --run main --model D/m.pth --protocol valid-and-test --top_k 0 --threads 1
preprocess --workspace S/workspaces/g/m-tuned --dataset D/g
train --workspace S/workspaces/g/m-tuned --from D/m.pth --epochs 2 --threads 1
score --workspace S/workspaces/g/m --run tuned --checkpoint S/workspaces/g/m-tuned/runs/main/checkpoints/best --protocol valid-and-test --top_k 0 --threads 1
`
	if commands != want {
		t.Errorf("commands\n%swant\n%s", commands, want)
	}
	result, err := ReadResult(t.Context(), r.Results, "g", "m")
	if err != nil {
		t.Fatal(err)
	}
	z, f := result.ZeroShot, result.FineTuned
	if z.Pessimistic.MRR != .5 || z.Messages != 10 || z.Distinct != 3 || z.Unreached != 1 || z.Commit != "c0" || z.Machine.Threads != 1 || !(z.CPUSeconds > 0) {
		t.Errorf("zero-shot %+v", z)
	}
	if f == nil || f.Pessimistic.MRR != .75 || f.Epochs != 2 || !(f.TrainingCPUSeconds > 0) {
		t.Errorf("fine-tuned %+v", f)
	}
	if len(result.Data) != 4 || result.Data["g_ind/valid.txt"] == "" || result.Weights != w.sha256 || result.Protocol != metrics.ValidAndTest {
		t.Errorf("%+v", result.Input)
	}
	lacks := func(change string) (zeroShot, fineTuned bool) {
		t.Helper()
		i, err := r.Inspect(t.Context(), g, w)
		if err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		if i.Work > 0 != (i.ZeroShot || i.FineTuned) {
			t.Errorf("%s: work %v", change, i.Work)
		}
		return i.ZeroShot, i.FineTuned
	}
	check := func(change string, zeroShot, fineTuned bool) {
		t.Helper()
		if z, f := lacks(change); z != zeroShot || f != fineTuned {
			t.Errorf("%s: lacks the zero-shot metrics: %v, the fine-tuned ones: %v", change, z, f)
		}
	}
	check("nothing", false, false)
	w.EpochsAlone = 3
	check("more epochs on a graph without a folder training", false, false)
	g.Folder, g.Training = g.Training, ""
	if w.epochsOn(g) != 3 {
		t.Errorf("%d epochs without a folder training, want 3", w.epochsOn(g))
	}
	g.Folder, g.Training = "g_ind", "g"
	w.Epochs = 3
	check("more epochs", false, true)
	r.Tune = false
	check("no fine-tuning", false, false)
	r.Tune, w.Epochs = true, 2
	r.Force = true
	check("force", true, true)
	r.Tune = false
	check("force without fine-tuning", true, false)
	if _, _, err := measure(t, r, g, w); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(Path(r.Results, "g", "m")); err != nil || strings.Count(string(text), `"commit": `) != 2 {
		t.Errorf("a result with two commits, error %v:\n%s", err, text)
	}
	r.Program.Commit = ""
	if _, _, err := measure(t, r, g, w); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(Path(r.Results, "g", "m")); err != nil || strings.Count(string(text), `"commit": `) != 1 {
		t.Errorf("an unknown commit and one of the fine-tuning, error %v:\n%s", err, text)
	}
	r.Tune, r.Force = true, false
	check("force kept the fine-tuned metrics", false, false)
	r.Limit = 1
	check("a limit", true, true)
	r.Limit = 0
	checksum := w.sha256
	w.sha256 = "other"
	check("other weights", true, true)
	w.sha256 = checksum
	write(t, filepath.Join(r.Data, "g_ind/valid.txt"), "c\tr\tc\n")
	check("other data", true, true)
	write(t, Path(r.Results, "g", "m"), "{}")
	if _, err := r.Inspect(t.Context(), g, w); err == nil || !strings.Contains(err.Error(), "format_version is 0, want 1; --force replaces it") {
		t.Errorf("a result that is none: error %v", err)
	}
}

// TestMeasureWhatFails keeps the zero-shot metrics of a model whose fine-tuning fails, and makes nothing else again.
func TestMeasureWhatFails(t *testing.T) {
	r, g, w := example(t, "train")
	g.Training, g.Protocol, r.Tune = "", "", true
	_, _, err := measure(t, r, g, w)
	if err == nil || !strings.Contains(err.Error(), "train cannot do this") {
		t.Fatalf("error %v", err)
	}
	result, err := ReadResult(t.Context(), r.Results, "g", "m")
	if err != nil || result.FineTuned != nil || result.ZeroShot.Queries != 4 {
		t.Fatalf("%+v, error %v", result, err)
	}
	t.Setenv(standIn, "nothing fails")
	before, commands, err := measure(t, r, g, w)
	const want = `preprocess --workspace S/workspaces/g/m --dataset D/g_ind
preprocess --workspace S/workspaces/g/m-tuned --dataset D/g_ind
train --workspace S/workspaces/g/m-tuned --from D/m.pth --epochs 2 --threads 1
score --workspace S/workspaces/g/m --run tuned --checkpoint S/workspaces/g/m-tuned/runs/main/checkpoints/best --protocol test --top_k 0 --threads 1
`
	if err != nil || before.ZeroShot || commands != want {
		t.Errorf("error %v, commands\n%swant\n%s", err, commands, want)
	}
	r.Limit = 1
	if i, err := r.Inspect(t.Context(), g, w); err != nil || !i.ZeroShot {
		t.Errorf("with a limit the result of all queries is kept; error %v", err)
	}
}

// TestMeasureStops ends the process of an interrupt, and keeps what was measured before.
func TestMeasureStops(t *testing.T) {
	r, g, w := example(t, "wait")
	r.Tune = true
	i, err := r.Inspect(t.Context(), g, w)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	context.AfterFunc(ctx, r.Processes.Interrupt)
	time.AfterFunc(time.Second, cancel)
	if err := r.Measure(ctx, &i); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if result, err := ReadResult(t.Context(), r.Results, "g", "m"); err != nil || result.FineTuned != nil {
		t.Errorf("%+v, error %v", result, err)
	}
}

// TestLimited takes some test facts evenly, and leaves the others known.
func TestLimited(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	write(t, filepath.Join(from, "train.txt"), "graph\n")
	write(t, filepath.Join(from, "valid.txt"), "v") // without an end
	write(t, filepath.Join(from, "test.txt"), "1\r\n2\n3\n4\n5")
	check := func(limit int, want string) {
		t.Helper()
		if err := limited(t.Context(), from, to, limit); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, file := range []string{"valid.txt", "test.txt"} {
			text, err := os.ReadFile(filepath.Join(to, file))
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				t.Fatal(err)
			case err == nil && len(text) == 0:
				t.Errorf("%d facts: %s is empty, which preprocess refuses", limit, file)
			}
			got = append(got, strings.Join(strings.Fields(string(text)), " "))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%d facts: %q, want %q", limit, got, want)
		}
		if text, err := os.ReadFile(filepath.Join(to, "train.txt")); err != nil || string(text) != "graph\n" {
			t.Errorf("the graph is %q, error %v", text, err)
		}
	}
	check(2, "v 1 2 4|3 5")
	check(5, "v|1 2 3 4 5")
	check(9, "v|1 2 3 4 5")
	if err := os.Remove(filepath.Join(from, "valid.txt")); err != nil {
		t.Fatal(err)
	}
	check(2, "1 2 4|3 5")
	check(9, "|1 2 3 4 5")
}

// TestOpen refuses weights that are not those of the list.
func TestOpen(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	write(t, filepath.Join(data, "m.pth"), "weights")
	for want, m := range map[string]Model{
		"has SHA-256 9a":       {Name: "m", File: "m.pth", SHA256: "0"},
		"no such file":         {Name: "m", File: "n.pth", SHA256: "0"},
		"there is no such mod": {Name: "m", Model: "nothing"},
	} {
		if _, err := m.Open(t.Context(), data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", m, err, want)
		}
	}
	if w, err := (Model{Name: "m", Model: "wn18rr"}).Open(t.Context(), data); err != nil || len(w.sha256) != 64 || w.flag != "--model" || w.value != "wn18rr" {
		t.Errorf("%+v, error %v", w, err)
	}
	if w, err := (Model{Name: "m"}).OpenFile(t.Context(), filepath.Join(data, "m.pth")); err != nil || w.flag != "--model" {
		t.Errorf("%+v, error %v", w, err)
	}
	if w, err := (Model{Name: "m"}).OpenFile(t.Context(), "run.go"); err != nil || w.flag != "--checkpoint" || !filepath.IsAbs(w.value) {
		t.Errorf("a file without a folder: %+v, error %v", w, err)
	}
}

func TestMeans(t *testing.T) {
	t.Parallel()
	a, b := Model{Name: "a"}, Model{Name: "b"}
	x, y, z, apart := Graph{Name: "x"}, Graph{Name: "y"}, Graph{Name: "z"}, Graph{Name: "apart", Apart: true}
	result := func(mrr float64, limit int) (r Result) {
		r.Limit, r.ZeroShot.Pessimistic.MRR, r.ZeroShot.Messages = limit, mrr, 5
		return r
	}
	all := Results{
		{"x", "a"}: result(.2, 0), {"y", "a"}: result(.4, 0), {"z", "a"}: result(.9, 0), {"apart", "a"}: result(1, 0),
		{"x", "b"}: result(.1, 0), {"y", "b"}: result(.1, 0), {"z", "b"}: result(.1, 7), {"apart", "b"}: result(1, 0),
	}
	models, graphs := []Model{a, b, {Name: "c"}}, []Graph{x, y, z, apart}
	measured := all.Measured(models, graphs, false)
	if len(measured) != 2 || len(all.Measured(models, graphs, true)) != 0 {
		t.Errorf("measured are %v", measured)
	}
	common := all.Common(measured, graphs, false)
	if len(common) != 2 || common[0].Name != "x" || common[1].Name != "y" {
		t.Errorf("common are %v", common)
	}
	if mean, _, messages := all.Mean(a, common, false); !(mean.MRR > .29 && mean.MRR < .31) || messages != 10 {
		t.Errorf("mean %+v, %d messages", mean, messages)
	}
}
