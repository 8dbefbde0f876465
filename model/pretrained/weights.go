package pretrained

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"tagnet/formats/input/pytorch"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/zoo"
)

// Weights holds the tensors of a model of package zoo, of a checkpoint, or of a file of ULTRA, with their origin.
type Weights struct {
	// Origin identifies them. Description describes them in a few words.
	Origin      checkpoint.Origin
	Description string
	// Further is the default configuration for training them further.
	Further configuration.Configuration
	// Record is the record of their training; for ULTRA's weights it has the configuration alone.
	Record checkpoint.Record
	// Folder has their checkpoint, if a Ref with a folder named them and they do not come with tagnet.
	Folder  checkpoint.Folder
	tensors []safetensors.Tensor[float32]
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

func (r Ref) openCheckpoint(ctx context.Context) (*Weights, error) {
	folder, name := r.Checkpoint()
	record, tensors, err := folder.Load(ctx, name)
	switch {
	case err != nil && r.Folder == "":
		return nil, &FileError{URL: r.Name, Reason: err}
	case err != nil:
		return nil, err
	}
	w := trained(record, tensors, "", size(record))
	if r.Folder != "" {
		w.Folder = folder
	}
	return w, nil
}

// size describes a model's size and metrics.
func size(r checkpoint.Record) string {
	text := fmt.Sprintf("%d layers, %d dimensions", r.Configuration.Layers, r.Configuration.Dim)
	if r.Valid != nil {
		text += fmt.Sprintf(", validation MRR %.4f", r.Valid.Pessimistic.MRR)
	}
	return text
}

// trained returns weights that tagnet trained. Those of any graph are trained further on one graph, after many, for an
// epoch at a low rate.
func trained(r checkpoint.Record, tensors []safetensors.Tensor[float32], name, description string) *Weights {
	w := &Weights{
		Origin:      checkpoint.Origin{Model: name, File: r.Weights.Name, SHA256: r.Weights.SHA256},
		Description: description, Further: r.Configuration, Record: r, tensors: tensors,
	}
	if r.Mixture != nil {
		w.Description = fmt.Sprintf("of any graph, trained on %s, %s", strings.Join(r.Mixture.Names(), ", "), description)
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
	p, err := ULTRAParameters(file)
	if err != nil {
		return nil, err
	}
	w := &Weights{
		Origin:      checkpoint.Origin{File: storage.Base(url), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))},
		Description: fmt.Sprintf("ULTRA, %d layers between relations and %[1]d between entities, %d dimensions", ULTRALayers, ULTRADim),
		Further:     ULTRAConfiguration(), Record: checkpoint.Record{Configuration: ULTRAConfiguration()}, tensors: p.Tensors,
	}
	if graphs := Graphs(w.Origin); graphs != "" {
		w.Description += "; trained on " + graphs
	}
	return w, nil
}

// Configuration returns a configuration with the fields that the weights decide: the model's.
func (w *Weights) Configuration(c configuration.Configuration) configuration.Configuration {
	return c.WithModel(w.Record.Configuration)
}

// Unknown returns the base relations of a graph that the weights lack, whose facts have to be left out. If they lack
// all, it returns none: then the weights do not fit the graph, an error of Over.
func (w *Weights) Unknown(relations []string) []string {
	if w.Record.Configuration.Transfers() {
		return nil
	}
	_, unknown, _ := parameters.MatchRelations(w.Record.Vocabulary.Relations, relations)
	if len(unknown) == len(relations) {
		return nil
	}
	return unknown
}

// Over returns the parameters over the relations of a graph, and the relations whose weights are left out because the
// graph lacks them. The error of a relation that the weights lack is a *checkpoint.UnknownRelationsError.
func (w *Weights) Over(relations []string) (set *parameters.Set[float32], unused []string, err error) {
	set, unused, err = w.Record.Over(w.tensors, relations)
	if err != nil && w.Folder != "" {
		err = fmt.Errorf("%s: %w", storage.Join(string(w.Folder), w.Record.Weights.Name), err)
	}
	return set, unused, err
}
