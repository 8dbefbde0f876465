package train

import (
	"bytes"
	"context"
	"flag"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/learn"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// explicit is the line that names the flags of a choice.
var explicit = regexp.MustCompile(`the same model on any machine: go run ./pipelines/train (--.*)\n`)

// TestMinutes trains for a time, which is more than enough for such a graph. The flags that it prints make the same
// bytes, and --resume --minutes trains on.
func TestMinutes(t *testing.T) {
	w := ring(t, 12)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--minutes", "5", "--layers", "2", "--dim", "4", "--negatives", "4")
	found := explicit.FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no flags in\n%s", out)
	}
	for _, want := range []string{"--minutes 5 is more than it takes, as more than 40 passes", "--dim 4 --epochs ", "best: epoch "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	checkpoints := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
	pipelinetest.Succeed(t, Pipeline(), append(strings.Fields(found[1]), "--run", "same", "--threads", "1")...)
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/same/checkpoints")), checkpoints)

	if _, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w); !strings.Contains(out, "is complete") {
		t.Errorf("a second run says\n%s%s", out, stderr)
	}
	_, out, _ = pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--minutes", "0.5", "--plan")
	if want := regexp.MustCompile(` more epochs, with --epochs \d+ and a learning rate of at least 0\.0005\d+\n`); !want.MatchString(out) {
		t.Errorf("resumed: no %v in\n%s", want, out)
	}
}

// TestReplanned gives a training far more time than it was planned with: it makes the bytes of as many epochs as help,
// and the folder is complete with these.
func TestReplanned(t *testing.T) {
	w := ring(t, 12)
	flags := small(w, "--validate_every", "10", "--learning_rate_decay", "1")
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--epochs", "10")...)
	epochs := ""
	timed := Pipeline()
	timed.Run = func(ctx context.Context, e *command.Environment) error {
		f := opened(t, w).flags
		f.resume = true
		d, err := f.decide(ctx, e)
		if err != nil {
			return err
		}
		p, err := d.plan(ctx)
		if err != nil {
			return err
		}
		p.addEpochs(10)
		d.step, p.ends, epochs = extend, time.Now().Add(time.Hour), strconv.FormatInt(learn.MostPasses*p.facts/p.drawn(), 10)
		return (&training{p, d.output()}).makeCheckpoints(ctx)
	}
	pipelinetest.Succeed(t, timed, "--workspace", w, "--epochs", "10")
	for _, run := range []string{"main", "same"} {
		out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--run", run, "--epochs", epochs)...)
		if complete := strings.Contains(out, "is complete"); complete != (run == "main") {
			t.Errorf("run %s is complete with %s epochs: %t:\n%s", run, epochs, complete, out)
		}
	}
	same, got := pipelinetest.Files(t, filepath.Join(w, "runs/same/checkpoints")), pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
	delete(same, "manifest.json") // it names the run
	delete(got, "manifest.json")
	pipelinetest.Same(t, got, same)
}

// TestLeastLearningRate adds epochs to a training, as --resume --minutes does, with its last learning rate as the least
// one: the bytes are those of one training with a preset file that has it.
func TestLeastLearningRate(t *testing.T) {
	w := ring(t, 40)
	flags := small(w, "--learning_rate", "0.25", "--learning_rate_decay", "0.5")
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--epochs", "2")...)
	longer := Pipeline()
	longer.Run = func(ctx context.Context, e *command.Environment) error {
		f := opened(t, w).flags
		f.resume = true
		d, err := f.decide(ctx, e)
		if err != nil {
			return err
		}
		p, err := d.plan(ctx)
		if err != nil {
			return err
		}
		p.addEpochs(2)
		d.step = extend
		return (&training{p, d.output()}).makeCheckpoints(ctx)
	}
	pipelinetest.Succeed(t, longer, "--workspace", w, "--epochs", "2")
	least := presetFile(t, `{"least_learning_rate": 0.125}`)
	pipelinetest.Succeed(t, Pipeline(), append(flags, "--run", "same", "--preset", least)...)
	last := "checkpoints/epoch-004.safetensors"
	pipelinetest.SameText(t, last, pipelinetest.Read(t, w, "runs/same", last), pipelinetest.Read(t, w, "runs/main", last))
}

// TestChoosing chooses among all choices, and prints what it would do.
func TestChoosing(t *testing.T) {
	w := ring(t, 40)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--minutes", "1", "--plan")
	for _, want := range []string{"chosen: --", "the graphs that are most like this one, "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if found := explicit.FindStringSubmatch(out); found == nil || strings.Contains(found[1], "--plan") {
		t.Errorf("no flags that train, %q, in\n%s", found, out)
	}
}

// TestAdjacentEnds lets a choice that removes all edges between the ends of a query keep those of other facts, where
// edges join the ends of validation facts, in the graph that these are about, or where there are none.
func TestAdjacentEnds(t *testing.T) {
	const text = "a\tr\tb\nb\tr\tc\nc\tr\td\nd\tr\ta\na\ts\tb\n"
	dataset := func(valid string) string {
		return pipelinetest.Dataset(t, map[string]string{"train.txt": text, "valid.txt": valid})
	}
	inductive := t.TempDir()
	star := pipelinetest.Dataset(t, map[string]string{"train.txt": "a\tr\tb\na\tr\tc\na\ts\td\n"})
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", inductive, "--dataset", star, "--inference", dataset("b\ts\tc\n"),
		"--validate_on", "inference")
	for name, c := range map[string]struct{ workspace, want string }{
		"adjacent":                        {prepared(t, dataset("b\ts\tc\n")), "--remove triple"},
		"apart":                           {prepared(t, dataset("a\ts\tc\n")), ""},
		"adjacent in the inference graph": {inductive, "--remove triple"},
		"not validated":                   {prepared(t, pipelinetest.Dataset(t, map[string]string{"train.txt": text})), "--remove triple"},
	} {
		d := opened(t, c.workspace)
		for choice, want := range map[string]string{
			"--dim 8 --layers 2 --remove one_hop": c.want + " --epochs ",
			"--dim 8 --layers 2":                  " --epochs ",
			"--preset fb15k-237-softmax":          c.want + " --epochs 40 --queries_per_epoch 0 ",
		} {
			measured, err := d.measure(t.Context(), choice, time.Millisecond, 60)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(measured.flags(), " ")
			if want = strings.ReplaceAll(choice+" "+want, "  ", " "); !strings.HasPrefix(got, want) {
				t.Errorf("%s: the flags are %s, want %s...", name, got, want)
			}
		}
	}
}

// opened returns the decision to train on a workspace's graph, without flags.
func opened(t *testing.T, w string) *decision {
	t.Helper()
	e := &command.Environment{Workspace: workspace.New(w), Progress: progress.New(io.Discard, false), Flags: flag.NewFlagSet("train", flag.ContinueOnError)}
	f := &flags{
		hyperparameters: hyperparameters{fields: fields()}, workers: 1, localSteps: 8, Resources: command.Resources{Memory: 1024},
		validation: metrics.Validation{Every: 1}, minutes: 60,
	}
	d, err := f.decide(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestGraphIsReadOnce measures two choices with a file of the graph that is no more needed.
func TestGraphIsReadOnce(t *testing.T) {
	w := ring(t, 40)
	d := opened(t, w)
	pipelinetest.Write(t, filepath.Join(w, "graph/edges-00000-of-00001.arrow"), "damaged")
	for _, choice := range []string{"--layers 2 --dim 8", "--layers 3 --dim 8"} {
		if _, err := d.measure(t.Context(), choice, time.Millisecond, 60); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMoreMinutes extends a training whose learning rate grows, refuses one of several workers, and says if the
// epochs gained nothing.
func TestMoreMinutes(t *testing.T) {
	w := ring(t, 40)
	pipelinetest.Succeed(t, Pipeline(), small(w, "--learning_rate_decay", "1.2", "--epochs", "2")...)
	more := regexp.MustCompile(` more epochs, with --epochs \d+ and a learning rate of at least 0\n`)
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume", "--minutes", "0.2", "--plan"); !more.MatchString(out) {
		t.Errorf("no %v in\n%s", more, out)
	}
	code, _, contradicted := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--minutes", "1e-5", "--layers", "5")
	if want := "layers is 3 there, 5 here"; code != command.ExitFailure || !strings.Contains(contradicted, want) {
		t.Errorf("a contradicting flag: %d, no %q in %q: it is measured first", code, want, contradicted)
	}
	var out bytes.Buffer
	e := &command.Environment{Workspace: workspace.New(w), Out: &out}
	resumed := &decision{flags: &flags{}, e: e, folder: checkpoint.Folder(e.Workspace.Checkpoints())}
	if err := resumed.summarize(t.Context(), true, 2); err != nil ||
		!strings.Contains(out.String(), "the epochs after 2, of --minutes, are no better than epoch ") {
		t.Errorf("%v, it says\n%s", err, out.String())
	}
	pipelinetest.Succeed(t, Pipeline(), small(w, "--run", "two", "--workers", "2", "--local_steps", "1", "--batch_size", "4")...)
	_, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--run", "two", "--resume", "--minutes", "1")
	if want := "--minutes is for one worker: give --epochs with --workers 2"; !strings.Contains(stderr, want) {
		t.Errorf("no %q in %q", want, stderr)
	}
}

// TestMinutesTooShort names a time that is enough, and writes nothing.
func TestMinutesTooShort(t *testing.T) {
	w := ring(t, 40)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--minutes", "1e-5", "--layers", "2")
	if code != command.ExitFailure {
		t.Errorf("exit code %d, want %d", code, command.ExitFailure)
	}
	if want := "--minutes 1e-05 is too short on this graph: give "; !strings.Contains(stderr, want) {
		t.Errorf("no %q in %q", want, stderr)
	}
	if _, minutes, _ := strings.Cut(stderr, ": give "); !(strings.HasPrefix(minutes, "0.")) {
		t.Errorf("it takes less than a minute, and not %q", minutes)
	}
	if files := pipelinetest.Files(t, filepath.Join(w, "runs")); len(files) > 0 {
		t.Errorf("%d files", len(files))
	}
}

// TestChoiceOfLeastMemory names, of choices none of which has enough memory, the one that needs the least.
func TestChoiceOfLeastMemory(t *testing.T) {
	_, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", ring(t, 3000), "--memory", "16")
	_, _, small := pipelinetest.Run(t, Pipeline(), "--workspace", ring(t, 3000), "--memory", "16", "--layers", "4", "--dim", "16", "--negatives", "32")
	if !strings.Contains(stderr, "--memory 16 is too small") || !strings.HasSuffix(stderr, small) {
		t.Errorf("%q, want %q", stderr, small)
	}
}

// TestPlanOfTheRest plans the epochs that a resumed training has left.
func TestPlanOfTheRest(t *testing.T) {
	w := ring(t, 40)
	pipelinetest.Succeed(t, Pipeline(), small(w, "--epochs", "2")...)
	cost := regexp.MustCompile("time  .*\n")
	rest := cost.FindString(pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume", "--epochs", "3", "--plan"))
	all := cost.FindString(pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume", "--epochs", "100002", "--plan"))
	if rest == all || !strings.Contains(rest, "about 1.0s of one core, as measured here") {
		t.Errorf("one epoch: %q, 100,000: %q", rest, all)
	}
}

// TestDefaultMinutesTooShort trains longer where nobody gave a time.
func TestDefaultMinutesTooShort(t *testing.T) {
	before := defaultMinutes
	defaultMinutes = 1e-5
	defer func() { defaultMinutes = before }()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", ring(t, 40), "--plan")
	if want := "1e-05 minutes are too short on this graph: --minutes 1\n--minutes 1 is more than it takes, "; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// TestTimesAsText names no fewer minutes than are enough, and the day of a time that is far away.
func TestTimesAsText(t *testing.T) {
	err := &tooShort{minutes: 1, enough: 123.41}
	if want := "--minutes 1 is too short on this graph: give 123.5 or more, "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%q, want %q", err, want)
	}
	soon := time.Now().Add(time.Minute)
	if got, want := clock(soon), soon.Format("15:04:05"); got != want {
		t.Errorf("in a minute is %q, want %q", got, want)
	}
	late := soon.AddDate(0, 0, 2)
	if got, want := clock(late), late.Format("2006-01-02 15:04:05"); got != want {
		t.Errorf("in two days is %q, want %q", got, want)
	}
}

func TestMinutesContradicted(t *testing.T) {
	w := ring(t, 40)
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"no time":       {[]string{"--minutes", "0"}, "--minutes is 0"},
		"no end":        {[]string{"--minutes", "inf"}, "--minutes is +Inf: want more than 0, and at most 1000000"},
		"too long":      {[]string{"--minutes", "1e9", "--resume"}, "--minutes is 1e+09"},
		"not a number":  {[]string{"--minutes", "NaN"}, "--minutes is NaN"},
		"epochs":        {[]string{"--minutes", "1", "--epochs", "2"}, "and so does --epochs: leave one of them out"},
		"two":           {[]string{"--minutes", "1", "--epochs", "2", "--queries_per_epoch", "9"}, "--epochs, --queries_per_epoch"},
		"several":       {[]string{"--minutes", "1", "--workers", "2"}, "give --epochs with --workers 2"},
		"parts":         {[]string{"--minutes", "1", "--reach", "9", "--bundles"}, "--bundles reads what was drawn"},
		"resume epochs": {[]string{"--minutes", "1", "--resume", "--epochs", "9"}, "--epochs"},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), append([]string{"--workspace", w}, c.flags...)...)
		if code != command.ExitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d, %q, want %q", name, code, stderr, c.want)
		}
	}
}

// TestChoices sets the flags of each choice of the frontier.
func TestChoices(t *testing.T) {
	for _, choice := range learn.Measured().Choices() {
		h, err := choiceOf(choice)
		if err != nil {
			t.Fatal(choice, err)
		}
		c, err := openPreset(t.Context(), h.preset)
		if err != nil {
			t.Fatal(choice, err)
		}
		if _, err := h.configure(c); err != nil {
			t.Error(choice, err)
		}
	}
}
