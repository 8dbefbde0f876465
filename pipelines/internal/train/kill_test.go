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

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestKilledTrainingEndsInTheSameBytes kills the real process without warning at moments all
// over its life, which an undisturbed run measures, and resumes it each time.
func TestKilledTrainingEndsInTheSameBytes(t *testing.T) {
	undisturbed := ring(t, 60)
	pipelinetest.Succeed(t, Pipeline(), small(undisturbed)...)
	want := pipelinetest.Files(t, filepath.Join(undisturbed, "checkpoints"))
	if len(want) < 4+4+2+2 {
		t.Fatalf("only %d files", len(want))
	}
	timed := ring(t, 60)
	begun := time.Now()
	if killed, _ := trained(t, timed, time.Hour); killed {
		t.Fatal("it took an hour")
	}
	life := time.Since(begun)
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(timed, "checkpoints")), want)
	rng := rand.New(rand.NewPCG(7, 7))
	kills, resumed := 0, 0
	for trainings := 0; kills < 8 || resumed < 4; trainings++ {
		if trainings > 30 {
			t.Fatalf("%d trainings were killed %d times, %d times while they trained: too few to show anything", trainings, kills, resumed)
		}
		w := ring(t, 60)
		for killed, unlucky := true, 0; killed; unlucky++ {
			after := time.Duration(rng.Int64N(int64(life)))
			if unlucky > 20 {
				after = time.Hour // so that there is an end
			}
			var resumes bool
			if killed, resumes = trained(t, w, after); killed {
				kills++
			}
			if resumes {
				resumed++
			}
		}
		pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "checkpoints")), want)
		if lines := strings.Count(pipelinetest.Files(t, w)["training.jsonl"], "\n"); lines != 4 {
			t.Errorf("training.jsonl has %d lines, want 4", lines)
		}
	}
	t.Logf("%d kills, resumed %d times", kills, resumed)
}

// trained runs the command as a process and kills it after a time, if it has not ended by then. It
// saves a checkpoint after each step, which leaves the most to go wrong.
func trained(t *testing.T, w string, after time.Duration) (killed, resumed bool) {
	t.Helper()
	killed, output := pipelinetest.Kill(t, after, small(w, "--resume", "--checkpoint_minutes", "0")...)
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

func testInterrupted(t *testing.T, end os.Signal) {
	w := ring(t, 60)
	c := pipelinetest.Command(t, small(w, "--epochs", "100000")...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if said = append(said, lines.Text()); strings.HasPrefix(lines.Text(), "epoch 3 of") {
			c.Process.Signal(end)
		}
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != command.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, strings.Join(said, "\n"))
	}
	last := 0
	for _, line := range said {
		fmt.Sscanf(line, "epoch %d of", &last)
	}
	code, _, text := pipelinetest.Run(t, Pipeline(), small(w, "--epochs", fmt.Sprint(last+1), "--resume")...)
	if code != 0 || !strings.Contains(text, "resuming from ") {
		t.Errorf("%d, %s", code, text)
	}
	found, err := filepath.Glob(filepath.Join(w, "checkpoints", "epoch-003.json"))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
