package pretrained

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"tagnet/formats/pytorch"
	"tagnet/formats/safetensors"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/ultra"
	"tagnet/model/zoo"
)

// Weights holds the tensors of a model of package zoo, of a checkpoint, or of a file of ULTRA, with what identifies them.
type Weights struct {
	// Origin identifies them. About says in a few words what a model of them is.
	Origin checkpoint.Origin
	About  string
	// Further is the configuration of training them further where none is given.
	Further configuration.Configuration

	record  checkpoint.Record // of their training
	tensors []safetensors.Tensor
}

// openNamed opens a model of package zoo.
func openNamed(name string) (*Weights, error) {
	m, err := zoo.Open(name)
	if err != nil {
		return nil, err
	}
	about := size(m.Record)
	if m.Record.Mixture == nil {
		about = fmt.Sprintf("trained on %s, %s", m.Card.Dataset, about)
	}
	return trained(m.Record, m.Weights, m.Name, about), nil
}

// openCheckpoint opens the checkpoint of a file.
func openCheckpoint(ctx context.Context, url string) (*Weights, error) {
	folder, name := checkpoint.Locate("", url)
	r, tensors, err := folder.Load(ctx, name)
	if err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	return trained(r, tensors, "", size(r)), nil
}

// size says how large a model is, and how good.
func size(r checkpoint.Record) string {
	text := fmt.Sprintf("%d layers, %d dimensions", r.Configuration.Layers, r.Configuration.Dim)
	if r.Valid != nil {
		text += fmt.Sprintf(", validation MRR %.4f", r.Valid.Pessimistic.MRR)
	}
	return text
}

// trained returns weights that tagnet trained. Those of any graph are trained further on one graph, after many, for an epoch at a low rate.
func trained(r checkpoint.Record, tensors []safetensors.Tensor, name, about string) *Weights {
	w := &Weights{
		Origin: checkpoint.Origin{Model: name, File: r.Weights.Name, SHA256: r.Weights.SHA256},
		About:  about, Further: r.Configuration, record: r, tensors: tensors,
	}
	if r.Mixture != nil {
		w.About = fmt.Sprintf("of any graph, trained on %s, %s", strings.Join(r.Mixture.Names(), ", "), about)
	}
	if r.Configuration.Transfers() {
		w.Further.Epochs, w.Further.LearningRate, w.Further.LearningRateDecay = 1, 5e-4, configuration.Default().LearningRateDecay
	} else {
		w.Origin.Relations = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(r.Vocabulary.Relations, "\n")+"\n")))
	}
	return w
}

// ofULTRA returns ULTRA's weights, of the data of a file.
func ofULTRA(url string, data []byte, file *pytorch.File) (*Weights, error) {
	p, err := ultra.Parameters(file)
	if err != nil {
		return nil, err
	}
	w := &Weights{
		Origin:  checkpoint.Origin{File: storage.Base(url), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))},
		About:   fmt.Sprintf("ULTRA, %d layers between relations and %[1]d between entities, %d dimensions", ultra.Layers, ultra.Dim),
		Further: ultra.Configuration(), record: checkpoint.Record{Configuration: ultra.Configuration()}, tensors: checkpoint.Tensors(p.Tensors),
	}
	if graphs := Graphs(w.Origin); graphs != "" {
		w.About += "; trained on " + graphs
	}
	return w, nil
}

// Start returns the configuration that the weights were trained with.
func (w *Weights) Start() configuration.Configuration { return w.record.Configuration }

// Configuration returns a configuration with the fields that the weights decide: those of the model.
func (w *Weights) Configuration(c configuration.Configuration) configuration.Configuration {
	return c.WithModel(w.record.Configuration)
}

// Over returns the checkpoint of the weights over the relations of a graph. The configuration is one that Configuration returned, or the
// same with another policy that has the same weights.
func (w *Weights) Over(graph *kg.KG, c configuration.Configuration) (*Checkpoint, error) {
	set, unused, err := w.record.Over(w.tensors, graph.Relations)
	if err != nil {
		return nil, err
	}
	r := w.record
	r.Configuration, r.Origin = c, &w.Origin
	return NewCheckpoint(r, set, unused, graph)
}
