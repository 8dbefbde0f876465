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
