package probabilities_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/predict"
	"tagnet/stages/worker"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, train.Pipeline())) }

// trained returns a workspace with the model of a ring, and the path of its probabilities.
func trained(t *testing.T) (w, file string) {
	t.Helper()
	w = pipelinetest.Template(t, "ring", func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 40)))
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
	})
	found, err := filepath.Glob(filepath.Join(w, answer.ProbabilitiesFolder, "[0-9a-f]*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v, want one file", found, err)
	}
	return w, found[0]
}

// environment returns that of a command in a workspace, and what it says.
func environment(w string) (*command.Environment, *strings.Builder) {
	e, said := pipelinetest.Environment(), &strings.Builder{}
	e.Workspace, e.Out, e.Flags = workspace.New(w), said, flag.NewFlagSet("score", flag.ContinueOnError)
	return e, said
}

// open opens the best checkpoint.
func open(t *testing.T, e *command.Environment) *answer.Model {
	t.Helper()
	loaded, _, err := e.Workspace.OpenGraph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := worker.Model(t.Context(), checkpoint.Folder(e.Workspace.Checkpoints()), "best", loaded)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var resources = command.Resources{Memory: 1024}

// fit opens and makes the fit of the best checkpoint.
func fit(t *testing.T, e *command.Environment) (*probabilities.Fit, error) {
	t.Helper()
	f, err := probabilities.OpenFit(t.Context(), e, open(t, e), resources)
	if err != nil {
		return nil, err
	}
	return f, f.Make(t.Context(), e.Workspace.Path("another"), lock.Lock{})
}

// bestOf returns the parameters of the best checkpoint of a workspace.
func bestOf(w string) (p predict.Params) {
	p.Queries.Graph = filepath.Join(w, "graph")
	p.Model.Checkpoints, p.Model.Checkpoint = filepath.Join(w, "runs/main/checkpoints"), "best"
	return p
}

// TestShards checks that the file has the same bytes with any number of shards and threads, and in one
// process without Beam.
func TestShards(t *testing.T) {
	w, file := trained(t)
	want := pipelinetest.Read(t, file)
	for _, c := range []struct{ shards, threads int }{{1, 1}, {7, 2}, {23, 3}} {
		folder := t.TempDir()
		p := predict.FitParams{
			Folder: folder, File: filepath.Base(file), Shards: c.shards, Params: bestOf(w),
		}
		p.Model.Threads = c.threads
		if err := pipelinetest.Environment().RunBeam(t.Context(), command.BeamPipeline(predict.Fit, p)); err != nil {
			t.Fatal(err)
		}
		if got := pipelinetest.Read(t, folder, filepath.Base(file)); got != want {
			t.Errorf("%d shards, %d threads: other bytes", c.shards, c.threads)
		}
	}
	e, _ := environment(w)
	m, err := open(t, e).OverAllFacts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.Resources.Threads = 2
	if m.Resources.Kernel, err = kernel.Named(""); err != nil {
		t.Fatal(err)
	}
	sampling, err := m.Sampling(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Fit(t.Context(), sampling, nil); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := m.WriteProbabilities(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	if got := pipelinetest.Read(t, folder, filepath.Base(file)); got != want {
		t.Error("in one process: other bytes")
	}
}

// TestFitSpeed measures a whole fit, whose propagations it knows then, and a slice of it. Most of the best answers are
// the same.
func TestFitSpeed(t *testing.T) {
	w, facts := filepath.Join(t.TempDir(), "workspace"), ""
	for i := range 150 {
		facts += fmt.Sprintf("person%d\tbuys\tproduct%d\n", i, i%3)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, map[string]string{"train.txt": facts}))
	pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
	e, _ := environment(w)
	for name, c := range map[string]struct {
		span time.Duration
		most float64
	}{"whole": {time.Hour, 1.01}, "a slice": {1, 2}} {
		m, err := open(t, e).OverAllFacts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m.Resources.Threads = 1
		if m.Resources.Kernel, err = kernel.Named(""); err != nil {
			t.Fatal(err)
		}
		speed, err := m.FitSpeed(t.Context(), c.span)
		if err != nil {
			t.Fatal(err)
		}
		sampling, err := m.Sampling(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		made := 0.
		m.Watch(func(queries int, _ time.Duration) { made += float64(queries) })
		if err := m.Fit(t.Context(), sampling, nil); !errors.Is(err, probability.ErrTooFew) { // what is observed is the same
			t.Fatal(err)
		}
		got, _ := speed.Work(m.Configuration)
		if ratio := float64(got) / made; !(ratio <= c.most && ratio >= 1/c.most) {
			t.Errorf("%s: %d propagations, want about %g", name, got, made)
		}
		once := speed.Seconds(m.Configuration)
		if twice := speed.Since(speed).Seconds(m.Configuration); !(once > 0 && twice == once) {
			t.Errorf("%s: %g seconds, and %g where that was measured before, too", name, once, twice)
		}
	}
}

// TestAnotherGraph checks that the stage fits nothing where weights or graph are others than the file's name says.
func TestAnotherGraph(t *testing.T) {
	w, _ := trained(t)
	p := predict.FitParams{
		Folder: t.TempDir(), File: "other.json", Params: bestOf(w),
	}
	err := pipelinetest.Environment().RunBeam(t.Context(), command.BeamPipeline(predict.Fit, p))
	if want := (&manifest.Replaced{Folder: p.Queries.Graph}).Error(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestMake checks that probabilities are made once, and what is said of them.
func TestMake(t *testing.T) {
	w, file := trained(t)
	want := pipelinetest.Files(t, filepath.Dir(file))
	e, said := environment(w)
	f, err := fit(t, e)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Jobs()) > 0 || f.URL() != file {
		t.Errorf("%d jobs, file %s, want none and %s", len(f.Jobs()), f.URL(), file)
	}
	pipelinetest.Remove(t, file)
	if f, err = fit(t, e); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Dir(file)), want)
	for range 2 {
		estimator, err := f.Estimator(probability.Presumed{Missing: .02})
		if err != nil {
			t.Fatal(err)
		}
		if count := strings.Count(said.String(), estimator.Text()); count != 1 {
			t.Errorf("%q is said %d times, want once:\n%s", estimator.Text(), count, said)
		}
	}
}

// TestDamaged checks that a file that was cut, changed, or is that of another graph is refused, and what helps.
func TestDamaged(t *testing.T) {
	w, file := trained(t)
	whole := pipelinetest.Read(t, file)
	fitted, err := probability.Parse(file, []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	fitted.Fingerprint.Graph = strings.Repeat("0", len(fitted.Fingerprint.Graph))
	other, err := fitted.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cut": whole[:len(whole)/2], "empty": "", "changed": strings.Replace(whole, "1", "2", 1), "of another graph": string(other),
	} {
		pipelinetest.Write(t, file, text)
		wantRemedy(t, w, name, file)
	}
	for name, put := range map[string]func() error{
		"too long": func() error { return errors.Join(os.WriteFile(file, nil, 0o666), os.Truncate(file, 256<<20+1)) }, // nothing of it is on the disk
		"a folder": func() error { return os.Mkdir(file, 0o777) },
		"a device": func() error { return os.Symlink(os.DevNull, file) },
	} {
		pipelinetest.Remove(t, file)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		wantRemedy(t, w, name, file)
	}
}

// wantRemedy checks that what is in the place of a file of probabilities is refused, and what helps.
func wantRemedy(t *testing.T, workspace, what, file string) {
	t.Helper()
	e, _ := environment(workspace)
	_, err := fit(t, e)
	if err == nil || !strings.Contains(err.Error(), file+" is damaged: ") || !strings.HasSuffix(err.Error(), "; remove this file, and it is made again") {
		t.Errorf("%s: error %v", what, err)
	}
}

// elsewhere is the lock file of a run on another machine.
const elsewhere = `{"host":"elsewhere","process":7,"token":"x"}`

// fitFolder returns the folder that a run locks while it fits the probabilities of a file.
func fitFolder(file string) string { return strings.TrimSuffix(file, ".json") }

// TestHeld checks that a run waits for none whose end it would not see, and takes no fit from one that may be alive,
// not even with --force.
func TestHeld(t *testing.T) {
	w, file := trained(t)
	pipelinetest.Remove(t, file)
	url := filepath.Join(fitFolder(file), lock.FileName)
	pipelinetest.Write(t, url, elsewhere)
	e, _ := environment(w)
	for _, e.Force = range []bool{false, true} {
		f, err := fit(t, e)
		if help := "remove " + url; !errors.As(err, new(*lock.Held)) || !strings.HasSuffix(err.Error(), help) {
			t.Errorf("force %t: error %v, want one that ends with %q", e.Force, err, help)
		}
		if err := f.Ready(func(context.Context) error { return nil })(t.Context()); !errors.As(err, new(*lock.Held)) {
			t.Errorf("force %t: ready: %v", e.Force, err)
		}
	}
	if got := pipelinetest.Read(t, url); got != elsewhere {
		t.Errorf("the lock is %s", got)
	}
}

// said passes on the lines of a display.
type said chan string

func (s said) Write(text []byte) (int, error) {
	s <- string(text)
	return len(text), nil
}

// TestWait checks that a run waits for another one of this machine that fits the same probabilities, and what it does
// when that one ends.
func TestWait(t *testing.T) {
	interrupt := errors.New("interrupt")
	for name, c := range map[string]struct {
		then  func(held lock.Lock, file, fitted string) error // what the other run does, or the user, while this one waits
		uses  bool                                            // this run uses what the other one fitted
		fails error
	}{
		"fitted": {then: func(held lock.Lock, file, fitted string) error {
			return errors.Join(os.WriteFile(file, []byte(fitted), 0o666), held.Release(t.Context()))
		}, uses: true},
		"interrupted": {then: func(held lock.Lock, _, _ string) error { return held.Release(t.Context()) }},
		"killed": {then: func(held lock.Lock, _, _ string) error {
			dead := strings.Replace(held.Content, fmt.Sprintf(`"process":%d`, os.Getpid()), `"process":1073741824`, 1)
			return os.WriteFile(held.URL, []byte(dead), 0o666)
		}},
		"this one is interrupted": {then: func(lock.Lock, string, string) error { return interrupt }, fails: interrupt},
	} {
		t.Run(name, func(t *testing.T) {
			w, file := trained(t)
			want := pipelinetest.Read(t, file)
			fitted, err := probability.Parse(file, []byte(want))
			if err != nil {
				t.Fatal(err)
			}
			fitted.Relations[0].Facts++
			other, err := fitted.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if c.uses {
				want = string(other)
			}
			pipelinetest.Remove(t, file)
			held, err := lock.Acquire(t.Context(), fitFolder(file), "the other command", false)
			if err != nil {
				t.Fatal(err)
			}
			e, _ := environment(w)
			lines := make(said, 100)
			e.Progress = progress.New(lines, false)
			f, err := probabilities.OpenFit(t.Context(), e, open(t, e), resources)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Ready(func(context.Context) error { return nil })(t.Context()); err != nil {
				t.Errorf("ready: %v", err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := make(chan error, 1)
			go func() { ended <- f.Make(ctx, "", lock.Lock{}) }()
			select {
			case line := <-lines:
				if !strings.HasPrefix(line, fmt.Sprintf("waiting for process %d, which fits", os.Getpid())) || !strings.Contains(line, "the other command") {
					t.Errorf("it says %q", line)
				}
			case err := <-ended:
				t.Fatalf("it does not wait: %v", err)
			}
			if err := c.then(held, file, string(other)); err != nil {
				cancel(err)
			}
			if err := <-ended; !errors.Is(err, c.fails) {
				t.Fatalf("error %v, want %v", err, c.fails)
			}
			if c.fails != nil {
				return
			}
			if got := pipelinetest.Read(t, file); got != want {
				t.Error("other bytes")
			}
			if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
				t.Errorf("%v, %v, want the file alone", left, err)
			}
		})
	}
}

// TestOthersDoNotMatter checks that other models' probabilities may be fitted meanwhile.
func TestOthersDoNotMatter(t *testing.T) {
	w, file := trained(t)
	pipelinetest.Remove(t, file)
	for _, other := range []string{filepath.Dir(file), fitFolder(file) + "0"} {
		pipelinetest.Write(t, filepath.Join(other, lock.FileName), elsewhere)
	}
	e, _ := environment(w)
	if f, err := fit(t, e); err != nil || f.URL() != file {
		t.Errorf("error %v, want %s", err, file)
	}
}

// TestSymbolicLinks checks that nothing is fitted, and nothing else touched, where a link leads out of the
// folder, be it dangling.
func TestSymbolicLinks(t *testing.T) {
	w, file := trained(t)
	for _, link := range []string{file, filepath.Dir(file)} {
		pipelinetest.Remove(t, link)
		if err := os.Symlink(filepath.Join(w, "elsewhere"), link); err != nil {
			t.Fatal(err)
		}
		e, _ := environment(w)
		f, err := fit(t, e)
		if err == nil || !strings.Contains(err.Error(), link+": it is a symbolic link") {
			t.Errorf("%s: error %v", link, err)
		}
		err = f.Ready(func(context.Context) error { return errors.New("the stage's folder is touched") })(t.Context())
		if err == nil || !strings.Contains(err.Error(), link+": it is a symbolic link") {
			t.Errorf("%s: ready: %v", link, err)
		}
	}
}

// TestReadOnly checks that probabilities are fitted into the folder of the run alone where the workspace's cannot be
// written, and are the same.
func TestReadOnly(t *testing.T) {
	w, file := trained(t)
	want := pipelinetest.Read(t, file)
	pipelinetest.Remove(t, filepath.Dir(file))
	pipelinetest.Write(t, filepath.Dir(file), "a file in the place of the folder")
	e, said := environment(w)
	f, err := fit(t, e)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "probabilities are fitted for this run alone") {
		t.Errorf("said\n%s", said)
	}
	if another := filepath.Join(w, "another", filepath.Base(file)); f.URL() != another || pipelinetest.Read(t, another) != want {
		t.Errorf("file %s, want %s with the usual bytes", f.URL(), another)
	}
	if f, err = probabilities.OpenFit(t.Context(), e, open(t, e), resources); err != nil {
		t.Fatal(err)
	}
	if err := f.Make(t.Context(), "", lock.Lock{}); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("without another folder: error %v", err)
	}
}

// TestRulesForOneRun checks that rules are kept elsewhere where the workspace's folder cannot be written.
func TestRulesForOneRun(t *testing.T) {
	w, file := trained(t)
	pipelinetest.Remove(t, filepath.Dir(file))
	pipelinetest.Write(t, filepath.Dir(file), "a file in the place of the folder")
	e, said := environment(w)
	another := filepath.Join(w, "another")
	mined, where, err := probabilities.Rules(t.Context(), e, open(t, e).Graph, 1, another)
	if err != nil || len(mined.List) == 0 || filepath.Dir(where.URL) != filepath.Join(another, answer.ProbabilitiesFolder) {
		t.Fatalf("%v in %+v, %v, want rules below %s", mined, where, err, another)
	}
	if !strings.Contains(said.String(), "rules are found for this run alone: ") {
		t.Errorf("said\n%s", said)
	}
}

// TestGivenWeights checks that weights that no folder holds are written for the workers, and removed, and that it is
// said before how long the fit takes.
func TestGivenWeights(t *testing.T) {
	before := *probabilities.LeastAnnounced
	*probabilities.LeastAnnounced = 0
	defer func() { *probabilities.LeastAnnounced = before }()
	w, file := trained(t)
	pipelinetest.Remove(t, file)
	e, _ := environment(w)
	shown := &strings.Builder{}
	e.Progress = progress.New(shown, false)
	loaded, _, err := e.Workspace.OpenGraph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.OpenModel(t.Context(), "zero", loaded)
	if err != nil {
		t.Fatal(err)
	}
	f, err := probabilities.OpenFit(t.Context(), e, m, resources)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Make(t.Context(), "", lock.Lock{}); err != nil {
		t.Fatal(err)
	}
	if said := regexp.MustCompile(`^fitting probabilities: about \d[\dms.]*s, once for this graph and model\n`); !said.MatchString(shown.String()) {
		t.Errorf("no %v in %q", said, shown)
	}
	files := pipelinetest.Files(t, filepath.Dir(file))
	if _, is := files[filepath.Base(f.URL())]; !is || len(files) != 1 {
		t.Errorf("%d files, want %s alone", len(files), f.URL())
	}
}

// TestTooFew checks that a graph of a few facts has scores alone, which is found out once.
func TestTooFew(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	files := map[string]string{"train.txt": "a\tlikes\tb\nb\tlikes\tc\n"}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	out := pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
	if !strings.Contains(out, "answers have scores, but no probabilities: too few facts") {
		t.Error(out)
	}
	for range 2 { // the second time the file is new: what the first one finds out is kept
		e, said := environment(w)
		f, err := probabilities.OpenFit(t.Context(), e, open(t, e), resources)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Made() || f.URL() != "" || strings.Count(said.String(), "too few facts") != 1 {
			t.Errorf("made: %t, file %q, want none to make; said\n%s", f.Made(), f.URL(), said)
		}
		if estimator, err := f.Estimator(probability.Presumed{Missing: .05}); estimator != nil || err != nil {
			t.Errorf("%v, %v, want no estimator", estimator, err)
		}
		kept, err := filepath.Glob(filepath.Join(w, answer.ProbabilitiesFolder, "[0-9a-f]*.json"))
		if err != nil || len(kept) != 1 {
			t.Fatalf("%q, %v, want one file", kept, err)
		}
		want := pipelinetest.Read(t, kept[0])
		pipelinetest.Remove(t, kept[0])
		if _, err := fit(t, e); err != nil {
			t.Fatal(err)
		}
		if got := pipelinetest.Read(t, kept[0]); got != want {
			t.Errorf("another file\n%s\nwant\n%s", got, want)
		}
	}
}

// TestOutline checks that a graph that is not held has scores alone.
func TestOutline(t *testing.T) {
	w, _ := trained(t)
	e, said := environment(w)
	outline, err := kg.Outline(t.Context(), e.Workspace.Graph(), open(t, e).KG.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	m, err := worker.Model(t.Context(), checkpoint.Folder(e.Workspace.Checkpoints()), "best", outline)
	if err != nil {
		t.Fatal(err)
	}
	f, err := probabilities.OpenFit(t.Context(), e, m, resources)
	if f != nil || err != nil {
		t.Fatalf("%v, %v, want none", f, err)
	}
	if err := f.Make(t.Context(), "", lock.Lock{}); err != nil {
		t.Error(err)
	}
	if estimator, err := f.Estimator(probability.Presumed{Missing: .05}); estimator != nil || err != nil {
		t.Errorf("%v, %v, want no estimator", estimator, err)
	}
	if !strings.Contains(said.String(), "--bundles does not hold") {
		t.Error(said)
	}
}

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "fit", pipelinetest.Graph(t, command.BeamPipeline(predict.Fit, predict.FitParams{})))
}
