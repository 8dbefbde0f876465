package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tagnet/model"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
)

// TestTrainEqualsAWrittenTraining compares the files of a model that is trained in memory with those of a training that
// writes checkpoints, also where these have the average of the epochs' weights.
func TestTrainEqualsAWrittenTraining(t *testing.T) {
	t.Parallel()
	for _, average := range []float64{0, 0.6} {
		t.Run(fmt.Sprint(average), func(t *testing.T) {
			c := trained(t).Configuration()
			c.Epochs, c.WeightAverage = 3, average
			m, err := model.Train(t.Context(), model.Facts{Train: family()}, c, 7, nil)
			if err != nil {
				t.Fatal(err)
			}
			memory, written := t.TempDir(), t.TempDir()
			if err := m.Save(t.Context(), memory); err != nil {
				t.Fatal(err)
			}
			graph, err := kg.New(family(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			data, err := learn.NewData(t.Context(), graph)
			if err != nil {
				t.Fatal(err)
			}
			run := learn.Run{Checkpoints: written, History: filepath.Join(t.TempDir(), "training.jsonl"), Configuration: c, Seed: 7, Every: time.Hour}
			if _, err := learn.Train(t.Context(), run, data, nil); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"epoch-003.json", "epoch-003.safetensors", "epoch-003.optimizer.safetensors"} {
				got, err := os.ReadFile(filepath.Join(memory, name))
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(filepath.Join(written, name))
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != string(want) {
					t.Errorf("%s of a training in memory differs", name)
				}
			}
		})
	}
}
