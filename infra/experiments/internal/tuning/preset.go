package tuning

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"

	"tagnet/model/configuration"
)

// Origin says where a search begins: the dataset and the preset of its base.
type Origin struct {
	// Name is that of the search.
	Name    string `json:"search"`
	Dataset string `json:"dataset"`
	// Preset is a preset of the catalogue, or empty where the base is the default configuration or that of a file.
	Preset string `json:"-"`
	// Flags are those of train beside the preset of the base.
	Flags map[string]string `json:"flags,omitempty"`
}

// provenance says in a preset file where its values come from.
type provenance struct {
	Origin
	Search
	// Candidate is the number of the best one, which reached ValidationMRR in so many epochs.
	Candidate     int       `json:"candidate"`
	ValidationMRR float64   `json:"validation_mrr"`
	Epochs        int       `json:"epochs_trained"`
	HoursUsed     float64   `json:"hours_used"`
	Trained       []trained `json:"trained"`
}

// trained is a rung in a preset file.
type trained struct {
	Epochs     int         `json:"epochs"`
	Candidates []validated `json:"candidates"`
}

type validated struct {
	Candidate int     `json:"candidate"`
	MRR       float64 `json:"validation_mrr"`
	Diverged  bool    `json:"diverged,omitempty"`
}

// PresetFile returns the text of a preset file with the best candidate of a search: what it changes of the base's preset, and its provenance.
func (s Search) PresetFile(o Origin, r Result) ([]byte, error) {
	base := configuration.Default()
	if o.Preset != "" {
		var err error
		if base, err = configuration.Preset(o.Preset); err != nil {
			return nil, err
		}
	}
	p := provenance{
		Origin: o, Search: s, Candidate: r.Best.Candidate.Number, ValidationMRR: r.Best.Outcome.MRR,
		Epochs: r.Rungs[len(r.Rungs)-1].Epochs, HoursUsed: math.Round(r.Seconds/36) / 100,
	}
	for _, rung := range r.Rungs {
		t := trained{Epochs: rung.Epochs}
		for _, e := range rung.Entries {
			t.Candidates = append(t.Candidates, validated{e.Candidate.Number, e.Outcome.MRR, e.Diverged != ""})
		}
		p.Trained = append(p.Trained, t)
	}
	var text bytes.Buffer
	text.WriteString("{\n")
	write := func(key string, value any, end string) error {
		encoded, err := json.MarshalIndent(value, "  ", "  ")
		text.WriteString("  \"" + key + "\": " + string(encoded) + end + "\n")
		return err
	}
	if o.Preset != "" {
		if err := write("preset", o.Preset, ","); err != nil {
			return nil, err
		}
	}
	of, from := reflect.ValueOf(r.Best.Candidate.Configuration), reflect.ValueOf(base)
	for i := range of.NumField() {
		if of.Field(i).Equal(from.Field(i)) {
			continue
		}
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("json"), ",")
		if err := write(name, of.Field(i).Interface(), ","); err != nil {
			return nil, err
		}
	}
	if err := write("provenance", p, ""); err != nil {
		return nil, err
	}
	text.WriteString("}\n")
	return text.Bytes(), nil
}
