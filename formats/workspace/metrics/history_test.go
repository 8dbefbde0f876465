package metrics

import (
	"strings"
	"testing"

	"tagnet/formats/storage"
)

func TestForgedHistory(t *testing.T) {
	url := "mem://" + t.Name() + "/training.jsonl"
	good := `{"epoch":1,"loss":0.5,"learning_rate":0.1,"seconds":2,"queries":3,"messages":4,"steps":5,"kernel":"portable"}`
	for want, line := range map[string]string{
		"epoch is -2":                `{"epoch":-2}`,
		"seconds is -1":              `{"epoch":2,"seconds":-1}`,
		"valid.pessimistic.mrr is 2": `{"epoch":2,"valid":{"pessimistic":{"mrr":2}}}`,
		"cannot unmarshal":           `{"epoch":2e40}`,
	} {
		if err := storage.WriteFile(t.Context(), url, []byte(good+"\n"+line+"\n")); err != nil {
			t.Fatal(err)
		}
		epochs, err := ReadHistory(t.Context(), url)
		if len(epochs) != 1 || err == nil || !strings.Contains(err.Error(), url+":2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d epochs, error %v", line, len(epochs), err)
		}
	}
}

// FuzzReadHistory checks that the epochs that are read can be written, and are then the same number.
func FuzzReadHistory(f *testing.F) {
	f.Add([]byte(`{"epoch":1,"loss":0.5,"valid":{"queries":3,"pessimistic":{"mrr":0.5}},"seconds":2,"kernel":"portable"}` + "\n"))
	f.Add([]byte("{}\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		url := "mem://" + t.Name() + "/training.jsonl"
		if err := storage.WriteFile(t.Context(), url, text); err != nil {
			t.Fatal(err)
		}
		epochs, err := ReadHistory(t.Context(), url)
		if err != nil {
			return
		}
		if err := WriteHistory(t.Context(), url, epochs); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadHistory(t.Context(), url); err != nil || len(again) != len(epochs) {
			t.Errorf("%d epochs were written, %d read, error %v", len(epochs), len(again), err)
		}
	})
}

// TestDiverged has epochs as trainings wrote them: of healthy ones, and of ones with too high a learning rate.
func TestDiverged(t *testing.T) {
	t.Parallel()
	valid := func(mrr float64) *Valid {
		return &Valid{Chance: Chance{MRR: 0.04, Error: 0.003}, Ranks: Ranks{Pessimistic: Metrics{MRR: mrr}}}
	}
	for name, c := range map[string]struct {
		epoch Epoch
		want  bool
	}{
		"learns":                             {Epoch{Epoch: 1, Loss: 0.67, Valid: valid(0.7)}, false},
		"learns little":                      {Epoch{Epoch: 1, Loss: 0.6967, Valid: valid(0.15)}, false},
		"learned nothing yet":                {Epoch{Epoch: 1, Loss: 0.6967, Valid: valid(0.04)}, false},
		"high loss, good ranks":              {Epoch{Epoch: 1, Loss: 1.2, Valid: valid(0.5)}, false},
		"exploded":                           {Epoch{Epoch: 1, Loss: 13682, Valid: valid(0.0166)}, true},
		"exploded, ranks above chance":       {Epoch{Epoch: 1, Loss: 9.58e9, Valid: valid(0.09)}, true},
		"equal scores":                       {Epoch{Epoch: 2, Loss: 0.69314533, Valid: valid(0.0166)}, true},
		"by chance above":                    {Epoch{Epoch: 2, Loss: 0.6935, Valid: valid(0.045)}, true},
		"clearly above":                      {Epoch{Epoch: 2, Loss: 0.6935, Valid: valid(0.047)}, false},
		"varies":                             {Epoch{Epoch: 3, Loss: 0.6972, Valid: valid(0.045)}, false},
		"learns what validation has not":     {Epoch{Epoch: 2, Loss: 0.5, Valid: valid(0.02)}, false},
		"not validated, learns little":       {Epoch{Epoch: 1, Loss: 0.6967}, false},
		"not validated, exploded":            {Epoch{Epoch: 1, Loss: 211}, true},
		"not validated, one bad step":        {Epoch{Epoch: 2, Loss: 1.5467}, false},
		"not validated, weights from others": {Epoch{Epoch: 1, Loss: 1.619}, false},
		"not validated, equal scores":        {Epoch{Epoch: 2, Loss: 0.69314533}, true},
		"not validated, learns little later": {Epoch{Epoch: 2, Loss: 0.6927}, false},
		// Of the softmax loss, with 512 negatives.
		"softmax, learns":                      {Epoch{Epoch: 1, Loss: 2.1, EqualScores: 6.2403, Valid: valid(0.3)}, false},
		"softmax, learned nothing yet":         {Epoch{Epoch: 2, Loss: 6.1, EqualScores: 6.2403, Valid: valid(0.04)}, false},
		"softmax, equal scores":                {Epoch{Epoch: 2, Loss: 6.2404, EqualScores: 6.2403, Valid: valid(0.0166)}, true},
		"softmax, not validated, equal scores": {Epoch{Epoch: 2, Loss: 6.24031, EqualScores: 6.2403}, true},
		"softmax, not validated, a bad start":  {Epoch{Epoch: 1, Loss: 14, EqualScores: 6.2403}, false},
		"softmax, far above":                   {Epoch{Epoch: 1, Loss: 30, EqualScores: 6.2403, Valid: valid(0.0166)}, true},
		"softmax, exploded":                    {Epoch{Epoch: 1, Loss: 800, EqualScores: 6.2403, Valid: valid(0.09)}, true},
	} {
		if got := c.epoch.Diverged(); got != c.want {
			t.Errorf("%s: diverged %t, want %t", name, got, c.want)
		}
		if got, want := c.epoch.Exploded(), strings.Contains(name, "exploded"); got != want {
			t.Errorf("%s: exploded %t, want %t", name, got, want)
		}
	}
}
