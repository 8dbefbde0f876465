package pretrained

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"tagnet/formats/safetensors"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/zoo"
)

// trained are weights that tagnet trained: a model of package zoo, or a checkpoint.
type trained struct {
	record  checkpoint.Record
	weights []safetensors.Tensor
	origin  checkpoint.Origin
}

// openNamed opens a model of package zoo.
func openNamed(name string) (Weights, error) {
	m, err := zoo.Open(name)
	if err != nil {
		return nil, err
	}
	return newTrained(m.Record, m.Weights, m.Name), nil
}

// openCheckpoint opens the checkpoint of a file.
func openCheckpoint(ctx context.Context, url string) (Weights, error) {
	folder, name := checkpoint.Locate("", url)
	r, weights, err := folder.Load(ctx, name)
	if err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	return newTrained(r, weights, ""), nil
}

func newTrained(r checkpoint.Record, weights []safetensors.Tensor, name string) *trained {
	w := &trained{record: r, weights: weights, origin: checkpoint.Origin{Model: name, File: r.Weights.Name, SHA256: r.Weights.SHA256}}
	if !r.Configuration.Transfers() {
		w.origin.Relations = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(r.Vocabulary.Relations, "\n")+"\n")))
	}
	return w
}

func (w *trained) Origin() checkpoint.Origin { return w.origin }

func (w *trained) Start() configuration.Configuration { return w.record.Configuration }

// Further returns what suits one graph after many: an epoch at a low rate.
func (w *trained) Further() configuration.Configuration {
	c := w.record.Configuration
	if c.Transfers() {
		c.Epochs, c.LearningRate, c.LearningRateDecay = 1, 5e-4, configuration.Default().LearningRateDecay
	}
	return c
}

func (w *trained) Configuration(c configuration.Configuration) configuration.Configuration {
	return c.WithModel(w.record.Configuration)
}

func (w *trained) Over(graph *kg.KG, c configuration.Configuration) (*Checkpoint, error) {
	set, unused, err := w.record.Over(w.weights, graph.Relations)
	if err != nil {
		return nil, err
	}
	r := w.record
	r.Configuration, r.Origin = c, &w.origin
	return NewCheckpoint(r, set, unused, graph)
}

func (w *trained) Describe(c configuration.Configuration) string {
	text := fmt.Sprintf("%d layers, %d dimensions", c.Layers, c.Dim)
	if w.record.Valid != nil {
		text += fmt.Sprintf(", validation MRR %.4f", w.record.Valid.Pessimistic.MRR)
	}
	switch m := w.record.Mixture; {
	case m != nil:
		return fmt.Sprintf("of any graph, trained on %s, %s", strings.Join(m.Names(), ", "), text)
	case w.origin.Model != "":
		m, err := zoo.Open(w.origin.Model)
		if err == nil {
			text = fmt.Sprintf("trained on %s, %s", m.Card.Dataset, text)
		}
	}
	return text
}
