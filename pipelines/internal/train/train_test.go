package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/kernel"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/train"
)

func TestTrain(t *testing.T) {
	w := ring(t, 40)
	code, out, stderr := pipelinetest.Run(t, Pipeline(), small(w)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"best: epoch", "wrote " + w + "/runs/main/checkpoints/", "training.jsonl",
		"next: go run ./pipelines/discover --workspace " + w + "\nnext: go run ./pipelines/score --workspace"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.Contains(stderr, "epoch 4 of 4: loss") {
		t.Errorf("progress says\n%s", stderr)
	}
	before := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
	code, out, stderr = pipelinetest.Run(t, Pipeline(), small(w)...)
	if code != 0 || !strings.Contains(out, "is complete") || strings.Contains(stderr, "epoch") {
		t.Errorf("a second run: %d, %s%s", code, out, stderr)
	}
	for name, text := range before {
		if strings.Contains(text, "workers") || strings.Contains(text, "local_steps") {
			t.Errorf("%s of one worker names workers", name)
		}
	}
	// Threads, memory, the local steps of one worker and training again change no byte.
	pipelinetest.Succeed(t, Pipeline(), small(w, "--force", "--threads", "3", "--memory", "300", "--workers", "1", "--local_steps", "3")...)
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")), before)
}

func TestTrainingWithoutValidation(t *testing.T) {
	folder := pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))
	pipelinetest.Write(t, filepath.Join(folder, "valid.txt"), "no fact\n")
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder, "--on_bad_line", "reject")
	code, out, stderr := pipelinetest.Run(t, Pipeline(), small(w)...)
	if code != 0 || !strings.Contains(out, "best: epoch 4, the last") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
	fittedOf(t, w)
}

// TestNearInverseRelations names the hyperparameter that hides their facts in training, unless it is set.
func TestNearInverseRelations(t *testing.T) {
	text := ""
	for i := range 90 {
		text += fmt.Sprintf("e%[1]d\tparent\te%[2]d\ne%[2]d\tchild\te%[1]d\ne%[1]d\tknows\te%[3]d\n", i*i%37, i*7%37, i%31)
	}
	file, w := filepath.Join(pipelinetest.Dataset(t, map[string]string{"all.tsv": text}), "all.tsv"), t.TempDir()
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", file, "--split", "80,10,10")
	for remove, says := range map[string]bool{"triple": true, "one_hop": false} {
		out := pipelinetest.Succeed(t, Pipeline(), append(small(w), "--remove", remove, "--force")...)
		if strings.Contains(out, "near-inverse relations: 2 of 3: --remove one_hop hides") != says {
			t.Errorf("--remove %s: %s", remove, out)
		}
	}
}

func TestResume(t *testing.T) {
	w := finished(t)
	folder := filepath.Join(w, "runs/main/checkpoints")
	whole := unfinish(t, folder, "epoch-004")
	for name, c := range map[string]struct {
		flags []string
		want  []string
	}{
		"no flag": {nil, []string{"unfinished", "--resume", "--force"}},
		"other configuration": {[]string{"--resume", "--dropout", "0.3"},
			[]string{"dropout is 0.1 there, 0.3 here", "train --workspace " + w + " --resume continues it", "--force"}},
		"fewer epochs":     {[]string{"--resume", "--epochs", "2"}, []string{"epochs is 3 there, 2 here"}},
		"a preset":         {[]string{"--resume", "--preset", "wn-v2"}, []string{"learning_rate_decay is "}},
		"other seed":       {[]string{"--resume", "--seed", "9"}, []string{"seed is 0 there, 9 here"}},
		"other validation": {[]string{"--resume", "--valid_limit", "3"}, []string{"validation.limit is 0 there, 3 here"}},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, c.flags...)...)
		if code != 1 {
			t.Errorf("%s: exit code %d", name, code)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: no %q in %q", name, want, stderr)
			}
		}
	}
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--resume")...)
	if code != 0 || !strings.Contains(stderr, "resuming from epoch-003") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	if code, out, _ := pipelinetest.Run(t, Pipeline(), small(w, "--resume")...); code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("resuming what is complete: %d, %s", code, out)
	}
	// A damaged newest checkpoint is skipped, with a message.
	interrupted(t, folder)
	pipelinetest.Write(t, filepath.Join(folder, "epoch-004.optimizer.safetensors"), "cut")
	code, _, stderr = pipelinetest.Run(t, Pipeline(), small(w, "--resume")...)
	if code != 0 || !strings.Contains(stderr, "epoch-004.optimizer.safetensors is damaged") || !strings.Contains(stderr, "resuming from epoch-003") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
}

// TestTakeOverKeepsCheckpoints resumes a training whose lock names a process on another host, which
// may be alive: only with --force, and from its newest checkpoint.
func TestTakeOverKeepsCheckpoints(t *testing.T) {
	w := finished(t)
	folder := filepath.Join(w, "runs/main/checkpoints")
	whole := unfinish(t, folder, "epoch-004")
	pipelinetest.Write(t, filepath.Join(folder, lock.FileName), `{"host":"elsewhere","process":7,"token":"x"}`)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--resume")...)
	if code != 1 || !strings.Contains(stderr, "process 7 on host elsewhere") || !strings.Contains(stderr, "--resume --force keeps its checkpoints") {
		t.Errorf("%d, %s", code, stderr)
	}
	code, _, stderr = pipelinetest.Run(t, Pipeline(), small(w, "--resume", "--force")...)
	if code != 0 || !strings.Contains(stderr, "resuming from epoch-003") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
}

// TestRemedyKeepsTheFlags runs what the errors propose, as it stands there: it does what it says
// with the configuration of the flags.
func TestRemedyKeepsTheFlags(t *testing.T) {
	w := finished(t)
	folder := filepath.Join(w, "runs/main/checkpoints")
	proposed := func(stderr, ends string) []string {
		t.Helper()
		_, line, _ := strings.Cut(stderr, "go run ./pipelines/train ")
		if i := strings.LastIndex(line, "go run ./pipelines/train "); i >= 0 && ends == "--force" {
			line = line[i+len("go run ./pipelines/train "):]
		}
		line, _, found := strings.Cut(line, " "+ends)
		if !found {
			t.Fatalf("no command that ends in %s: %s", ends, stderr)
		}
		return append(strings.Fields(line), ends)
	}
	wide := small(w, "--dim", "16", "--relations", "table", "--seed", "3", "--memory", "700")
	code, _, stderr := pipelinetest.Run(t, Pipeline(), wide...)
	if code != 1 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	pipelinetest.Succeed(t, Pipeline(), proposed(stderr, "--force")...)
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), wide...); code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("--force trained something else: %s%s", out, stderr)
	}
	for _, ends := range []string{"--resume", "--force"} {
		interrupted(t, folder)
		code, _, stderr = pipelinetest.Run(t, Pipeline(), wide...)
		if code != 1 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		pipelinetest.Succeed(t, Pipeline(), proposed(stderr, ends)...)
	}
	interrupted(t, folder)
	code, _, stderr = pipelinetest.Run(t, Pipeline(), small(w, "--resume", "--dim", "4")...)
	if got := strings.Join(proposed(stderr, "--force"), " "); code != 1 || !strings.Contains(got, "--dim 4") || strings.Contains(got, "--resume") {
		t.Errorf("exit code %d, it proposes %s", code, got)
	}
}

func TestMoreEpochs(t *testing.T) {
	dataset := pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))
	short, long := prepared(t, dataset), prepared(t, dataset)
	for _, c := range []struct {
		workspace string
		flags     []string
		code      int
	}{
		{long, []string{"--epochs", "5"}, 0},
		{short, []string{"--epochs", "3"}, 0},
		{short, []string{"--epochs", "5", "--resume", "--seed", "8"}, 1},
		{short, []string{"--epochs", "2", "--resume"}, 1},
	} {
		if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(c.workspace, c.flags...)...); code != c.code {
			t.Fatalf("%q: exit code %d, want %d: %s", c.flags, code, c.code, stderr)
		}
	}
	// The error without --resume proposes the command that trains on.
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(short, "--epochs", "5")...)
	_, line, _ := strings.Cut(stderr, "complete with 3 epochs: go run ./pipelines/train ")
	resume, rest, found := strings.Cut(line, " trains 2 more, ")
	if code != 1 || !found || !strings.Contains(rest, "--force trains all 5 again") {
		t.Fatalf("%d, %s", code, stderr)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), strings.Fields(resume)...); code != 0 || strings.Contains(stderr, "epoch 3 of") {
		t.Errorf("%d, %s", code, stderr)
	}
	// Earlier records name the number of epochs that was wanted then; all else is the same.
	a, b := pipelinetest.Files(t, filepath.Join(long, "runs/main/checkpoints")), pipelinetest.Files(t, filepath.Join(short, "runs/main/checkpoints"))
	for _, early := range []string{"epoch-001.json", "epoch-002.json", "epoch-003.json", "manifest.json"} {
		delete(a, early)
		delete(b, early)
	}
	pipelinetest.Same(t, b, a)
}

// TestResumeTakesTheCheckpointsFlags resumes without the flags of the training, which are not the
// defaults, and again with --epochs.
func TestResumeTakesTheCheckpointsFlags(t *testing.T) {
	w := ring(t, 40)
	folder := filepath.Join(w, "runs/main/checkpoints")
	pipelinetest.Succeed(t, Pipeline(), small(w, "--epochs", "3", "--seed", "5", "--validate_every", "2", "--valid_limit", "3")...)
	want := unfinish(t, folder, "epoch-003")
	for _, lines := range []string{"resuming from epoch-002", "is complete"} {
		code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume")
		if code != 0 || !strings.Contains(out+stderr, lines) {
			t.Errorf("%d, no %q in %s%s", code, lines, out, stderr)
		}
		pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
	}
	code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--epochs", "4")
	if code != 0 || !strings.Contains(stderr, "epoch 4 of 4") || strings.Contains(stderr, "epoch 3 of") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
}

func TestAnotherGraphIsNotResumedOn(t *testing.T) {
	folder := pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))
	w := prepared(t, folder)
	pipelinetest.Succeed(t, Pipeline(), small(w)...)
	interrupted(t, filepath.Join(w, "runs/main/checkpoints"))
	text, err := os.ReadFile(filepath.Join(folder, "train.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "train.txt"), append(text, "e003\tskip\te017\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder, "--force")
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--resume")...)
	if code != 1 || !strings.Contains(stderr, "the graph is another") {
		t.Errorf("%d, %s", code, stderr)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--force")...); code != 0 {
		t.Errorf("training again: %s", stderr)
	}
}

// Of two trainings in one folder the earlier may have left a checkpoint behind: no manifest says
// that it belongs to the later, whether it came while that one trained or before it resumes.
func TestCheckpointsOfTwoRunsAreNotMixed(t *testing.T) {
	dataset := pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))
	w, other := prepared(t, dataset), prepared(t, dataset)
	pipelinetest.Succeed(t, Pipeline(), small(other, "--epochs", "30", "--layers", "1", "--dim", "4", "--negatives", "1", "--valid_limit", "1")...)
	foreign := pipelinetest.Files(t, filepath.Join(other, "runs/main/checkpoints"))
	leave := func(name string) {
		for _, ending := range []string{".safetensors", ".json"} {
			if err := os.WriteFile(filepath.Join(w, "runs/main/checkpoints", name+ending), []byte(foreign[name+ending]), 0o666); err != nil {
				t.Error(err)
			}
		}
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		for first := filepath.Join(w, "runs/main/checkpoints", "epoch-001.json"); t.Context().Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(first); err != nil {
				continue
			}
			// The training removes weights without a record, so those that come between two of its
			// looks are left again.
			leave("epoch-030")
			time.Sleep(5 * time.Millisecond)
			if _, err := os.Stat(filepath.Join(w, "runs/main/checkpoints", "epoch-030.safetensors")); err == nil {
				return
			}
		}
	}()
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", "15")...)
	<-left
	if want := "epoch-030 of " + filepath.Join(w, "runs/main/checkpoints") + " was written with another configuration"; code != 1 ||
		!strings.Contains(stderr, want) {
		t.Errorf("%d, %q, want %q in it", code, stderr, want)
	}
	if _, err := os.Stat(filepath.Join(w, "runs/main/checkpoints", "manifest.json")); err == nil {
		t.Error("the folder counts as complete")
	}
	for _, ending := range []string{".safetensors", ".json"} {
		pipelinetest.Remove(t, filepath.Join(w, "runs/main/checkpoints", "epoch-030"+ending))
	}
	leave("epoch-002")
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", "15", "--resume")...); code != 1 || !strings.Contains(stderr, "epoch-002 of ") {
		t.Errorf("%d, %q, want an error that names epoch-002", code, stderr)
	}
}

// TestResumeAloneNeedsACheckpoint interrupts a training before its first checkpoint: --resume without its flags does
// not train with the defaults, but names the command line of that training.
func TestResumeAloneNeedsACheckpoint(t *testing.T) {
	w := ring(t, 40)
	folder := filepath.Join(w, "runs/main/checkpoints")
	ended := `{"host":"elsewhere","process":7,"token":"x","ended":true,"command":"go run ./pipelines/train --workspace w --dim 7"}`
	pipelinetest.Write(t, filepath.Join(folder, lock.FileName), ended)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{
		Code: command.ExitFailure, Begin: "there is no checkpoint to resume from", Says: []string{"again: go run ./pipelines/train --workspace w --dim 7\n"},
	}, "--workspace", w, "--resume")
	if got := pipelinetest.Read(t, folder, lock.FileName); got != ended {
		t.Errorf("the lock file is %s", got)
	}
}

func TestMistakes(t *testing.T) {
	w := finished(t)
	before := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
	file := filepath.Join(t.TempDir(), "file")
	pipelinetest.Write(t, file, "no folder")
	attention := filepath.Join(t.TempDir(), "attention.json")
	pipelinetest.Write(t, attention, `{"delta_mode": "specific", "attention": "own"}`)
	for name, c := range map[string]struct {
		flags []string
		code  int
		want  []string
	}{
		"no graph":            {[]string{"--workspace", filepath.Join(t.TempDir(), "none")}, 1, []string{"run go run ./pipelines/preprocess"}},
		"a file":              {[]string{"--workspace", file}, 1, []string{file}},
		"preset":              {[]string{"--preset", "wn-v9"}, 2, []string{"--preset", "wn-v9", "wn-v1"}},
		"an empty preset":     {[]string{"--preset", ""}, 2, []string{`--preset is ""`, "wn-v1"}},
		"delta and layers":    {[]string{"--delta", "-1", "--layers", "0"}, 2, []string{"--delta is -1", "--layers is 0"}},
		"negatives, no reach": {[]string{"--reach_negatives", ".5"}, 2, []string{"add --reach, or give --reach_negatives 0"}},
		"no number":           {[]string{"--dropout", "much"}, 2, []string{"--dropout", "a number"}},
		"not finite":          {[]string{"--learning_rate", "NaN"}, 2, []string{"--learning_rate"}},
		"a key of presets": {[]string{"--temperature", "2"}, 2,
			[]string{`--temperature is not a flag of train: set "temperature" in a file of train --preset`}},
		"another key": {[]string{"--batching", "grouped"}, 2,
			[]string{`--batching is not a flag of train: set "batching" in a file of train --preset`}},
		"attention": {[]string{"--preset", attention, "--relations", "graph"}, 2,
			[]string{"attention is own: want shared, with relations from a graph"}},
		"kernel":                {[]string{"--kernel", "cuda9"}, 2, []string{"--kernel", "cuda9"}},
		"device":                {[]string{"--device", "gpu"}, 2, []string{"--device is \"gpu\": want auto, cpu"}},
		"no such device":        {[]string{"--device", "cuda:999", "--force"}, 1, []string{"--device cuda:999: ", "no CUDA d"}},
		"threads":               {[]string{"--threads", "-1"}, 2, []string{"--threads is -1"}},
		"too many threads":      {[]string{"--threads", "1000000"}, 2, []string{"--threads is 1000000"}},
		"too many negatives":    {[]string{"--negatives", "1000000000000"}, 2, []string{"--negatives is 1000000000000"}},
		"minutes":               {[]string{"--checkpoint_minutes", "11"}, 2, []string{"--checkpoint_minutes is 11"}},
		"validate":              {[]string{"--validate_every", "0"}, 2, []string{"--validate_every is 0"}},
		"limit":                 {[]string{"--valid_limit", "-1"}, 2, []string{"--valid_limit is -1"}},
		"memory":                {[]string{"--memory", "0"}, 2, []string{"--memory is 0"}},
		"little memory":         {[]string{"--memory", "64", "--force"}, 2, []string{"--memory 64 is too small", "takes at least"}},
		"unknown flag":          {[]string{"--epoch", "3"}, 2, []string{"--epoch", "--epochs"}},
		"other hyperparameters": {[]string{"--dim", "16"}, 1, []string{"dim is 8 there, 16 here", "--workspace", "--force"}},
		"other seed":            {[]string{"--seed", "4"}, 1, []string{"seed is 0 there, 4 here"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, c.flags...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in %q", want, stderr)
				}
			}
			if n := strings.Count(strings.TrimSpace(stderr), "\n"); n != 0 {
				t.Errorf("%d lines: %q", n+1, stderr)
			}
			pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")), before)
		})
	}
}

// Every variant of the kernels gives the same bytes every time, but not those of another variant: a training resumes
// with the variant of the epochs before, and says so if --kernel names another.
func TestResumingWithKernels(t *testing.T) {
	w := ring(t, 40)
	another := ""
	if fastest := kernel.Available()[len(kernel.Available())-1].Name(); fastest != "portable" {
		another = "trained with --kernel portable"
	}
	for _, c := range []struct {
		says  string
		flags []string
	}{
		{"training from the beginning", small(w, "--epochs", "1", "--kernel", "portable")},
		{"--kernel portable, as the epochs before", []string{"--workspace", w, "--epochs", "2"}}, {another, small(w, "--epochs", "3", "--kernel", "auto")},
	} {
		code, out, stderr := pipelinetest.Run(t, Pipeline(), append(c.flags, "--resume")...)
		if code != 0 || !strings.Contains(out+stderr, c.says) ||
			strings.Contains(stderr, "trained with --kernel portable") != (c.says == another && another != "") {
			t.Errorf("%q: %d, %s%s", c.flags, code, out, stderr)
		}
	}
	if epochs, err := metrics.ReadHistory(t.Context(), filepath.Join(w, "runs/main/training.jsonl")); err != nil || len(epochs) != 3 ||
		epochs[1].Kernel != "portable" {
		t.Errorf("%+v, %v", epochs, err)
	}
}

// Weights that grow beyond all bounds end the training with what was good.
func TestLossThatIsNotFinite(t *testing.T) {
	w := ring(t, 40)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--learning_rate", "1e37")...)
	if code != command.ExitDiverged || !strings.Contains(stderr, "epoch ") ||
		!strings.Contains(stderr, "not finite; try a lower --learning_rate: that of this epoch is 1e+37; there is no checkpoint") {
		t.Errorf("%d, %q", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(w, "runs/main/checkpoints", "manifest.json")); err == nil {
		t.Error("the checkpoints look complete")
	}
}

// Where every entity answers, the learning rate is not to blame.
func TestNothingIsLeftAsANegative(t *testing.T) {
	w := prepared(t, pipelinetest.Dataset(t, map[string]string{"train.txt": "a\tr\tb\na\tr\ta\nb\tr\ta\nb\tr\tb\n"}))
	code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w)...)
	if code != 1 || !strings.Contains(stderr, `set "strict_negatives": false in a file of --preset`) || strings.Contains(stderr, "learning_rate") {
		t.Errorf("%d, %q", code, stderr)
	}
	preset := filepath.Join(t.TempDir(), "known.json")
	pipelinetest.Write(t, preset, `{"strict_negatives": false}`)
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--preset", preset)...); code != 0 {
		t.Errorf("as it says: %d, %q", code, stderr)
	}
}

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	pipelinetest.DryRun(t, Pipeline(), finished(t), "/train.learnFn", "--epochs", "20")
	// Of several workers, the first job is printed.
	pipelinetest.DryRun(t, Pipeline(), finished(t), "/train.shardFn", "--workers", "2")
	// The ring has 112 training facts, and an epoch one query of each.
	pipelinetest.Plan(t, Pipeline(), finished(t), "step       train.learn: 112 queries in an epoch, which has 7 optimizer steps", "--epochs", "20")
}

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "train", pipelinetest.Graph(t, command.BeamPipeline(train.Learn, train.Params{})))
	run := learn.Run{Configuration: configuration.Default(), Rounds: configuration.Rounds{Workers: 2, LocalSteps: 1}}
	facts := steps.Keys{Facts: 3 * run.Configuration.BatchSize}
	tasks := learn.Tasks(run, facts, learn.Position{Epoch: 1}, 4) // two rounds, the end of the epoch, a round
	pipelinetest.Golden(t, "rounds", pipelinetest.Graph(t, BuildRounds(train.Params{Run: run}, tasks)))
}

func TestLeastMemory(t *testing.T) {
	w := ring(t, 40)
	pipelinetest.LeastMemory(t, Pipeline(), filepath.Join(w, "runs/main/checkpoints"), small(w, "--threads", "3", "--epochs", "1")...)
}

func TestFieldsAreFlags(t *testing.T) {
	set := Pipeline().OwnFlags()
	for _, f := range configuration.Fields() {
		if is := set.Lookup(f.Name) != nil; is != f.IsFlag() {
			t.Errorf("there is a flag --%s: %v", f.Name, is)
		}
	}
}

func TestConfigure(t *testing.T) {
	h := hyperparameters{fields: fields()}
	set := func(name, text string) {
		t.Helper()
		if err := h.set(name, text); err != nil {
			t.Errorf("--%s %s: %v", name, text, err)
		}
	}
	set("dim", "48")
	set("delta", "1")
	set("aggregate", "sum")
	set("dropout", "0.25")
	want, err := configuration.Preset("wn-v1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.configure(want)
	if err != nil {
		t.Fatal(err)
	}
	want.Dim, want.Delta, want.Aggregate, want.Dropout = 48, 1, "sum", 0.25
	if got != want {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		t.Errorf("%s, want %s", a, b)
	}
	if got, err := (hyperparameters{fields: fields()}).configure(configuration.Default()); err != nil || got != configuration.Default() {
		t.Errorf("nothing given: %v, %v", got, err)
	}
}

// interrupted turns a complete folder into one whose run was killed: it has a lock file, which names
// no process that is alive, and no manifest.
func interrupted(t *testing.T, folder string) {
	t.Helper()
	if err := os.Rename(filepath.Join(folder, "manifest.json"), filepath.Join(folder, lock.FileName)); err != nil {
		t.Fatal(err)
	}
}
