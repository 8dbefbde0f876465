package train

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestKilledTrainingEndsInTheSameBytes kills the real process without warning at changes of files
// drawn from all that an undisturbed run makes, and resumes it each time.
func TestKilledTrainingEndsInTheSameBytes(t *testing.T) {
	undisturbed := ring(t, 60)
	pipelinetest.Succeed(t, Pipeline(), small(undisturbed)...)
	want, fitted := pipelinetest.Files(t, filepath.Join(undisturbed, "runs/main/checkpoints")), pipelinetest.Read(t, fittedOf(t, undisturbed))
	if len(want) < 4+4+2+2 {
		t.Fatalf("only %d files", len(want))
	}
	counted := ring(t, 60)
	before := dyingStorage.changes.Load()
	pipelinetest.Succeed(t, Pipeline(), unsteady(counted)...)
	changes := dyingStorage.changes.Load() - before
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(counted, "runs/main/checkpoints")), want)
	rng := rand.New(rand.NewPCG(7, 7))
	kills, resumed := 0, 0
	for trainings := 0; kills < 8 || resumed < 4; trainings++ {
		if trainings > 30 {
			t.Fatalf("%d trainings were killed %d times, %d times while they trained: too few to show anything", trainings, kills, resumed)
		}
		w := ring(t, 60)
		for killed, unlucky := true, 0; killed; unlucky++ {
			at := 1 + rng.Int64N(changes)
			if unlucky > 20 {
				at = 0 // so that there is an end
			}
			var resumes bool
			if killed, resumes = trained(t, w, at); killed {
				kills++
			}
			if resumes {
				resumed++
			}
		}
		pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")), want)
		if pipelinetest.Read(t, fittedOf(t, w)) != fitted {
			t.Error("other probabilities")
		}
		if lines := strings.Count(pipelinetest.Files(t, w)["runs/main/training.jsonl"], "\n"); lines != 4 {
			t.Errorf("training.jsonl has %d lines, want 4", lines)
		}
	}
	t.Logf("%d kills at one of %d changes, resumed %d times", kills, changes, resumed)
}

// unsteady returns the flags of a training on the storage that kills it. It saves a checkpoint after
// each step, which leaves the most to go wrong.
func unsteady(w string) []string {
	return small(dyingScheme+w, "--resume", "--checkpoint_minutes", "0")
}

// trained runs the command as a process that kills itself at a change of a file; 0 for none.
func trained(t *testing.T, w string, at int64) (killed, resumed bool) {
	t.Helper()
	t.Setenv(dieAt, fmt.Sprint(at))
	killed, output := pipelinetest.Kill(t, time.Hour, unsteady(w)...)
	return killed, strings.Contains(output, "resuming from")
}

// TestInterruptedTrainingSavesItsSteps stops the real process as Ctrl-C does, as those do who
// manage machines, and as a terminal that is closed.
func TestInterruptedTrainingSavesItsSteps(t *testing.T) {
	for _, end := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(end.String(), func(t *testing.T) {
			if signal.Ignored(end) {
				t.Skip("who started the tests ignores it, and so do the processes that they start")
			}
			testInterrupted(t, end)
		})
	}
}

// interruptedAfter trains in a process of its own, signals its end after an epoch, and returns the last epoch that was
// finished, and what was printed.
func interruptedAfter(t *testing.T, epoch int, end os.Signal, flags ...string) (last int, text string) {
	t.Helper()
	c := pipelinetest.Command(t, flags...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var printed []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		printed = append(printed, lines.Text())
		fmt.Sscanf(lines.Text(), "epoch %d of", &last)
		if strings.HasPrefix(lines.Text(), fmt.Sprintf("epoch %d of", epoch)) {
			c.Process.Signal(end)
		}
	}
	c.Wait()
	text = strings.Join(printed, "\n")
	if code := c.ProcessState.ExitCode(); code != command.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, text)
	}
	return last, text
}

func testInterrupted(t *testing.T, end os.Signal) {
	w := ring(t, 60)
	last, _ := interruptedAfter(t, 3, end, small(w, "--epochs", "100000")...)
	code, _, text := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", fmt.Sprint(last+1), "--resume")...)
	if code != 0 || !strings.Contains(text, "resuming from ") {
		t.Errorf("%d, %s", code, text)
	}
	found, err := filepath.Glob(filepath.Join(w, "runs/main/checkpoints", "epoch-003.json"))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
