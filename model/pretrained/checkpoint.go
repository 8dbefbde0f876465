package pretrained

import (
	"context"

	"tagnet/formats/safetensors"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/parameters"
)

// Checkpoint is a checkpoint of weights that no folder holds yet.
type Checkpoint struct {
	// Record is that of the weights before any training here. Its Optimizer is not set.
	Record     checkpoint.Record
	Parameters *parameters.Set[float32]
	// Unused are the relations of the weights that the graph lacks; what belongs to them is left out of Parameters.
	Unused []string
}

// NewCheckpoint returns the checkpoint of parameters over the relations of a graph. The record has their configuration and origin.
func NewCheckpoint(r checkpoint.Record, p *parameters.Set[float32], unused []string, graph *kg.KG) (*Checkpoint, error) {
	r.FormatVersion = checkpoint.FormatVersion
	r.Vocabulary = checkpoint.Vocabulary{
		Relations: graph.Relations, Entities: len(graph.Train.Entities), Hash: graph.Vocabulary, Graph: graph.Manifest.Checksum,
	}
	var err error
	r.Weights, err = checkpoint.WeightsFile(r, checkpoint.Tensors(p.Tensors))
	return &Checkpoint{r, p, unused}, err
}

// Over returns the checkpoint of what Open opens, a path, URL or name, over a graph.
func Over(ctx context.Context, url string, graph *kg.KG) (*Checkpoint, error) {
	weights, err := Open(ctx, url)
	if err != nil {
		return nil, err
	}
	return weights.Over(graph, weights.Start())
}

// Save writes the checkpoint, with a state of the optimizer if there is one.
func (c *Checkpoint) Save(ctx context.Context, folder checkpoint.Folder, optimizer []safetensors.Tensor) error {
	return folder.Save(ctx, c.Record, checkpoint.Tensors(c.Parameters.Tensors), optimizer)
}
