package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tagnet/formats/lock"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/calibrate"
	"tagnet/stages/score"
)

// calibrationOf returns the name of the only calibration among files.
func calibrationOf(t *testing.T, files map[string]string) string {
	t.Helper()
	found := ""
	for name := range files {
		if strings.HasSuffix(name, ".calibration.json") {
			if found != "" {
				t.Errorf("%s and %s", found, name)
			}
			found = name
		}
	}
	if found == "" {
		t.Fatal("there is no calibration")
	}
	return found
}

// TestCalibration checks that the best checkpoint gets its calibration, with the same bytes however many threads or
// shards there are, and that --resume fits a missing one and changes no other file.
func TestCalibration(t *testing.T) {
	w := finished(t)
	folder := string(checkpoint.Folder(filepath.Join(w, "runs/main/checkpoints")))
	want := pipelinetest.Files(t, folder)
	name := calibrationOf(t, want)
	if best := strings.TrimSpace(want[checkpoint.BestFile]); name != best+".calibration.json" {
		t.Errorf("%s, the best is %s", name, best)
	}
	f := checkpoint.Folder(folder)
	record, err := f.Record(t.Context(), "best")
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Calibration(t.Context(), record)
	if err != nil || c == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	if c.Split != "valid" || c.TopK != 10 || !(c.Queries > 0 && c.True > 0 && c.True < c.Candidates && c.Candidates <= 10*c.Queries) {
		t.Errorf("calibration %+v", c)
	}
	for name, leave := range map[string]func(){
		"missing": func() { pipelinetest.Remove(t, filepath.Join(folder, name)) },
		"damaged": func() { pipelinetest.Write(t, filepath.Join(folder, name), "{}") },
		"unfinished": func() {
			pipelinetest.Remove(t, filepath.Join(folder, name))
			pipelinetest.Remove(t, filepath.Join(folder, "manifest.json"))
		},
	} {
		leave()
		code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--threads", "3")
		if code != 0 || !strings.Contains(out, "calibrated on the 10 best new answers") || strings.Contains(stderr, "epoch 4 of 4") {
			t.Errorf("%s: %d, %s%s", name, code, out, stderr)
		}
		pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume"); code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("nothing is missing: %d, %s", code, out)
	}
}

// TestDamagedCalibrationKeepsTheTraining checks that no remedy for a damaged or missing calibration removes checkpoints, and that after
// --resume the training can be extended.
func TestDamagedCalibrationKeepsTheTraining(t *testing.T) {
	w := finished(t)
	folder := filepath.Join(w, "runs/main/checkpoints")
	name := filepath.Join(folder, calibrationOf(t, pipelinetest.Files(t, folder)))
	longer := []string{"--workspace", w, "--resume", "--epochs", "5"}
	for _, what := range []string{"damaged", "missing"} {
		if what == "damaged" {
			pipelinetest.Write(t, name, "{}")
		} else {
			pipelinetest.Remove(t, name)
		}
		for _, arguments := range [][]string{small(w), longer} {
			_, _, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
			if want := "train --workspace " + w + " --resume fits it again"; !strings.Contains(stderr, name+" is "+what) || !strings.Contains(stderr, want) || strings.Contains(stderr, "--force") {
				t.Errorf("%s, %q: %s", what, arguments, stderr)
			}
		}
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume")
	if out := pipelinetest.Succeed(t, Pipeline(), longer...); !strings.Contains(out, "calibrated on the 10 best new answers") {
		t.Errorf("the extended training says\n%s", out)
	}
}

// TestDryRunOfACalibration checks that --resume of a training that lacks only its calibration shows the job that fits it.
func TestDryRunOfACalibration(t *testing.T) {
	w := finished(t)
	folder := filepath.Join(w, "runs/main/checkpoints")
	pipelinetest.Remove(t, filepath.Join(folder, calibrationOf(t, pipelinetest.Files(t, folder))))
	pipelinetest.DryRun(t, Pipeline(), w, "/calibrate.fitFn", "--resume")
}

func TestRoundsAreCalibrated(t *testing.T) {
	w := ring(t, 40)
	pipelinetest.Succeed(t, Pipeline(), byTwo(w)...)
	calibrationOf(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")))
}

// TestGraphReplacedMeanwhile replaces the graph after the first epoch, by one with other facts and by one that lacks a relation: the training
// ends with its checkpoints and without probabilities, and the calibration of another graph is refused where it is made.
func TestGraphReplacedMeanwhile(t *testing.T) {
	lacking := pipelinetest.Ring("e", 40)
	lacking["train.txt"] = regexp.MustCompile("(?m)^.*\tback\t.*\n").ReplaceAllString(lacking["train.txt"], "")
	for name, files := range map[string]map[string]string{"facts": pipelinetest.Ring("e", 41), "relation": lacking} {
		t.Run(name, func(t *testing.T) {
			w, other := prepared(t, pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))), prepared(t, pipelinetest.Dataset(t, files))
			replaced := make(chan error)
			go func() {
				for t.Context().Err() == nil {
					if _, err := os.Stat(filepath.Join(w, "runs/main/checkpoints/epoch-001.json")); err == nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				replaced <- errors.Join(os.Rename(filepath.Join(w, "graph"), filepath.Join(w, "earlier")), os.Rename(filepath.Join(other, "graph"), filepath.Join(w, "graph")))
			}()
			out := pipelinetest.Succeed(t, Pipeline(), small(w, "--epochs", "30")...)
			if err := <-replaced; err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%s was replaced meanwhile: the checkpoints are complete, and no probabilities were fitted; %s fits them to the new graph",
				filepath.Join(w, "graph"), workspace.New(w).Command("score", "--calibrate"))
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
			folder := filepath.Join(w, "runs/main/checkpoints")
			p := calibrate.NewParams(score.Params{Graph: filepath.Join(w, "graph"), Checkpoints: folder, Checkpoint: "best"}, 0, 1, lock.Lock{})
			err := pipelinetest.Environment().RunBeam(t.Context(), BuildCalibration(p))
			if err == nil || !strings.Contains(err.Error(), "graph is being replaced: run again") {
				t.Errorf("a calibration on another graph: %v", err)
			}
			files := pipelinetest.Files(t, folder)
			for file := range files {
				if strings.HasSuffix(file, ".calibration.json") {
					t.Errorf("there is %s", file)
				}
			}
			if files["manifest.json"] == "" {
				t.Error("the checkpoints are not complete")
			}
		})
	}
}

// TestTestFactsAreLeftOut checks that facts of the test split are neither true nor false candidates: a model that gives the
// validation facts and the test facts the best scores is sure of both.
func TestTestFactsAreLeftOut(t *testing.T) {
	files := pipelinetest.Ring("e", 40)
	sample := func() calibration.Counts {
		w := prepared(t, pipelinetest.Dataset(t, files))
		pipelinetest.Succeed(t, Pipeline(), small(w, "--epochs", "1")...)
		c, err := calibration.Parse([]byte(pipelinetest.Read(t, w, "runs/main/checkpoints/epoch-001.calibration.json")))
		if err != nil {
			t.Fatal(err)
		}
		return c.Counts
	}
	before := sample()
	var facts strings.Builder
	for i := range 40 { // all entities are known answers, except one that leaves a candidate to each query
		for j := range 39 {
			fmt.Fprintf(&facts, "e%03d\tskip\te%03d\n", i, (i+j)%40)
		}
	}
	files["test.txt"] = facts.String()
	// Only answers of the validation split, and the entity that is left out, remain.
	after := sample()
	if before.Candidates != 10*before.Queries || after.Queries != before.Queries || after.True != after.Queries || after.Candidates != 2*after.Queries {
		t.Errorf("%+v, with all other facts in the test split %+v", before, after)
	}
}
