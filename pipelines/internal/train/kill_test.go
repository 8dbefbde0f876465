package train

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/pipelines/internal/command"
)

// TestKilledTrainingEndsInTheSameBytes kills the real process without warning at moments all
// over its life, and lets it go on with --resume each time.
func TestKilledTrainingEndsInTheSameBytes(t *testing.T) {
	dataset := write(t, 60)
	undisturbed := prepared(t, dataset)
	if code, _, stderr := run(t, Pipeline(), small(undisturbed)...); code != 0 {
		t.Fatal(stderr)
	}
	want := files(t, filepath.Join(undisturbed, "checkpoints"))
	if len(want) < 4+4+2+2 {
		t.Fatalf("only %d files", len(want))
	}
	killed := prepared(t, dataset)
	rng := rand.New(rand.NewPCG(7, 7))
	kills, resumed := 0, 0
	for {
		// A checkpoint after each step leaves the most to go wrong. Later processes get longer, so
		// that there is an end.
		c := exec.Command(os.Args[0], small(killed, "--resume", "--checkpoint_minutes", "0")...)
		c.Env = append(os.Environ(), asTrain+"=1")
		var output bytes.Buffer
		c.Stdout, c.Stderr = &output, &output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rng.IntN(400)+40*kills) * time.Millisecond
		timer := time.AfterFunc(after, func() { c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if strings.Contains(output.String(), "going on from") {
			resumed++
		}
		if err == nil {
			break
		}
		if c.ProcessState.Exited() {
			t.Fatalf("after %d kills: %v\n%s", kills, err, output.String())
		}
		if kills++; kills > 100 {
			t.Fatal("no end")
		}
	}
	t.Logf("%d kills, resumed %d times", kills, resumed)
	if kills < 3 || resumed < 2 {
		t.Errorf("%d kills, of which %d while it trained: too few to show anything", kills, resumed)
	}
	same(t, want, files(t, filepath.Join(killed, "checkpoints")))
	if lines := strings.Count(files(t, killed)["training.jsonl"], "\n"); lines != 4 {
		t.Errorf("training.jsonl has %d lines, want 4", lines)
	}
}

// TestInterruptedTrainingSavesWhatItLearned stops the real process as Ctrl-C does.
func TestInterruptedTrainingSavesWhatItLearned(t *testing.T) {
	w := prepared(t, write(t, 60))
	c := exec.Command(os.Args[0], small(w, "--epochs", "100000")...)
	c.Env = append(os.Environ(), asTrain+"=1")
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
			c.Process.Signal(os.Interrupt)
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
	code, _, text := run(t, Pipeline(), small(w, "--epochs", fmt.Sprint(last+1), "--resume")...)
	if code != 0 || !strings.Contains(text, "going on from ") {
		t.Errorf("%d, %s", code, text)
	}
	found, err := filepath.Glob(filepath.Join(w, "checkpoints", "epoch-003.json"))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
