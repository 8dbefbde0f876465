package zoo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"tagnet/model/weights/checkpoint"
)

func TestModels(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := fs.ReadDir(models, "models")
	if err != nil || len(folders) != len(Names) {
		t.Fatalf("%d folders for the models %q, %v", len(folders), Names, err)
	}
	for i, name := range Names {
		if folders[i].Name() != name {
			t.Errorf("folder %s, want %s", folders[i].Name(), name)
		}
		m, err := Open(strings.ToUpper(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, of := m.Record, m.Card.Dataset
		ofAny := r.Mixture != nil
		if m.Name != name || r.Name() != m.Card.Checkpoint || r.Valid == nil || !ofAny && !strings.EqualFold(of, name) {
			t.Errorf("%s: the card is of %s, the record of %s", name, m.Card.Checkpoint, r.Name())
		}
		if ofAny != (len(m.Card.Seen) > 0) || ofAny != (name == Zero) {
			t.Errorf("%s: mixture %v, seen %q", name, r.Mixture, m.Card.Seen)
		}
		if _, _, err := r.Over(m.Weights, r.Vocabulary.Relations); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		test := m.Card.Evaluation.Pessimistic
		row := fmt.Sprintf("| `%s` | %s | %.4f | %.4f | %.4f | %.4f | `%.16s...` |\n", name, of, r.Valid.Pessimistic.MRR, test.MRR, test.Hits1, test.Hits10,
			r.Weights.SHA256)
		if ofAny {
			row = fmt.Sprintf("| `%s` | %s | %.4f | | | | `%.16s...` |\n", name, strings.Join(r.Mixture.Names(), ", "), r.Valid.Pessimistic.MRR,
				r.Weights.SHA256)
		}
		if !strings.Contains(string(readme), row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
		const most = 1 << 20
		if r.Weights.Size > most {
			t.Errorf("%s has %d bytes, at most %d suit a program that has it inside", name, r.Weights.Size, most)
		}
		for what, missing := range map[string]bool{
			"license": m.Card.Data.License == "", "source": m.Card.Data.Source == "", "training": len(m.Card.Training.Commands) == 0,
			"commit": m.Card.Training.Commit == "", "kernel": m.Card.Training.Kernel == "",
			"metrics": !ofAny && (m.Card.Evaluation.Pessimistic.MRR == 0 || m.Card.Evaluation.Kernel == ""),
		} {
			if missing {
				t.Errorf("the card of %s has no %s", name, what)
			}
		}
	}
	if _, err := Open("wn19"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown model: %v", err)
	}
}

// TestDamage changes and cuts each file of a checkpoint.
func TestDamage(t *testing.T) {
	t.Parallel()
	name := Names[len(Names)-1]
	for _, ending := range []string{".json", ".safetensors"} {
		for what, damage := range map[string]func([]byte) []byte{
			"changed": func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
			"cut":     func(data []byte) []byte { return data[:len(data)-1] },
		} {
			_, err := read(name, func(path string) ([]byte, error) {
				data, err := models.ReadFile(path)
				if strings.HasSuffix(path, ending) && !strings.HasSuffix(path, "card.json") {
					data = damage(data)
				}
				return data, err
			})
			if damaged := new(checkpoint.DamagedError); !errors.As(err, &damaged) || !strings.HasSuffix(damaged.URL, ending) {
				t.Errorf("%s, %s: %v", ending, what, err)
			}
		}
	}
}
