package train

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
