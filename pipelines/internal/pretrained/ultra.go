package pretrained

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"tagnet/formats/pytorch"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/parameters"
	"tagnet/model/ultra"
	"tagnet/pipelines/internal/command"
)

// ULTRA is a file of ULTRA's weights that was read. None of them belongs to a relation: they are a model of any graph.
type ULTRA struct {
	file    string
	weights *parameters.Set[float32]
	// Origin identifies the file.
	Origin checkpoint.Origin
}

// OpenULTRA reads the file of ULTRA's weights that a flag names. The error says what else the file holds, if tagnet reads that
// elsewhere.
func OpenULTRA(ctx context.Context, flag, file string) (*ULTRA, error) {
	data, err := read(ctx, flag, file)
	if err != nil {
		return nil, err
	}
	opened, err := pytorch.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("--%s: %s: %w", flag, file, err)
	}
	if tensors, err := opened.StateDict("model"); err == nil && ofNBFNet(tensors) {
		return nil, command.Usage("--%s: %s holds weights of NBFNet-PyG, which belong to relations: use --weights %[2]s --relations NAMES", flag, file)
	}
	u := &ULTRA{file: file, Origin: checkpoint.Origin{File: storage.Base(file), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}}
	if u.weights, err = ultra.Parameters(opened); err != nil {
		return nil, fmt.Errorf("--%s: %s: %w", flag, file, err)
	}
	return u, nil
}

// HoldsULTRA reports whether the file that a flag names, of whatever weights, holds a model of ULTRA, whole or not.
func HoldsULTRA(ctx context.Context, flag, file string) (bool, error) {
	data, err := read(ctx, flag, file)
	if err != nil {
		return false, err
	}
	is, err := ofULTRA(data)
	if err != nil {
		return false, fmt.Errorf("--%s: %s: %w", flag, file, err)
	}
	return is, nil
}

// ofULTRA reports whether the content of a file of PyTorch is a model of ULTRA, whole or not.
func ofULTRA(data []byte) (bool, error) {
	opened, err := pytorch.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false, err
	}
	tensors, err := opened.StateDict("model")
	return err == nil && ultra.Recognizes(tensors), nil
}

// ofNBFNet reports whether a file holds a model of NBFNet-PyG.
func ofNBFNet(tensors []pytorch.Tensor) bool {
	return slices.ContainsFunc(tensors, func(t pytorch.Tensor) bool { return t.Name == "query.weight" })
}

// Describe returns a line about the model.
func (u *ULTRA) Describe() string {
	text := fmt.Sprintf("weights of %s: ULTRA, %d layers between relations and %[2]d between entities, %d dimensions", u.file, ultra.Layers, ultra.Dim)
	if graphs := ultra.Published(u.Origin.SHA256); graphs != "" {
		text += "; trained on " + graphs
	}
	return text
}

// Over returns the checkpoint of the weights over a graph.
func (u *ULTRA) Over(loaded *kg.KG) (*Checkpoint, error) {
	made := &Checkpoint{weights: checkpoint.Tensors(u.weights.Tensors)}
	made.Record = checkpoint.Record{FormatVersion: checkpoint.FormatVersion, Configuration: ultra.Configuration(), Origin: &u.Origin}
	return made, made.describe(loaded, nil, u.file)
}
