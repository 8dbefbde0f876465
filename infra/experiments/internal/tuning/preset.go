package tuning

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"tagnet/model/configuration"
)

// Origin says where a search begins.
type Origin struct {
	// Name is the name of the search; Inference is empty if the dataset has one graph, or an inference graph in the catalog.
	Name, Dataset, Inference string
	// Preset is a preset of the catalog, or empty if the search began from the default configuration or a preset file.
	Preset string
	// Flags are the flags of train that change the preset.
	Flags map[string]string
}

// trained is a rung in a preset file.
type trained struct {
	Epochs int `json:"epochs"`
	// ValidationMRR has four digits, by the number of the candidate.
	ValidationMRR map[string]float64 `json:"validation_mrr"`
	Diverged      []int              `json:"diverged,omitempty"`
}

// entry is a key of a JSON object.
type entry struct {
	key   string
	value any
}

// PresetFile returns the text of a preset file with the best candidate of a search: the hyperparameters that differ from the base's preset, and their
// provenance.
func (s Search) PresetFile(o Origin, r Result) ([]byte, error) {
	base := configuration.Default()
	var list []entry
	if o.Preset != "" {
		var err error
		if base, err = configuration.Preset(o.Preset); err != nil {
			return nil, err
		}
		list = append(list, entry{"preset", o.Preset})
	}
	for _, f := range configuration.Fields() {
		if value := f.Of(r.Best.Candidate.Configuration); value != f.Of(base) {
			list = append(list, entry{f.Name, value})
		}
	}
	provenance, err := object("  ", s.provenance(o, r))
	if err != nil {
		return nil, err
	}
	text, err := object("", append(list, entry{"provenance", json.RawMessage(provenance)}))
	return append(text, '\n'), err
}

// provenance says where the values of a preset come from.
func (s Search) provenance(o Origin, r Result) []entry {
	var rungs []trained
	for _, rung := range r.Rungs {
		t := trained{Epochs: rung.Epochs, ValidationMRR: map[string]float64{}}
		for _, e := range rung.Entries {
			if e.Diverged != "" {
				t.Diverged = append(t.Diverged, e.Candidate.Number)
				continue
			}
			t.ValidationMRR[strconv.Itoa(e.Candidate.Number)] = math.Round(e.Outcome.MRR*1e4) / 1e4
		}
		rungs = append(rungs, t)
	}
	list := []entry{{"search", o.Name}, {"dataset", o.Dataset}}
	if o.Inference != "" {
		list = append(list, entry{"inference", o.Inference})
	}
	return append(list, []entry{
		{"flags", o.Flags}, {"space", s.Space}, {"candidates", s.Candidates}, {"rungs", s.Rungs},
		{"keep_one_in", s.KeepOneIn}, {"training_hours", s.Hours}, {"seed", s.Seed}, {"trained", rungs}, {"hours_used", math.Round(r.Seconds/36) / 100},
		{"candidate", r.Best.Candidate.Number}, {"epochs_trained", r.Rungs[len(r.Rungs)-1].Epochs}, {"validation_mrr", r.Best.Outcome.MRR},
	}...)
}

// object returns a JSON object with a line for each entry.
func object(indent string, entries []entry) ([]byte, error) {
	var text bytes.Buffer
	text.WriteString("{\n")
	for i, e := range entries {
		value, ok := e.value.(json.RawMessage)
		if !ok {
			var err error
			if value, err = json.Marshal(e.value); err != nil {
				return nil, err
			}
		}
		end := ",\n"
		if i == len(entries)-1 {
			end = "\n"
		}
		text.WriteString(indent + "  \"" + e.key + "\": " + string(value) + end)
	}
	text.WriteString(indent + "}")
	return text.Bytes(), nil
}
