package train

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/model/answer/workload"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/stages/encode"
)

// PartsFolder returns the folder of bundles for the queries of a split (RequiredFolder.URL), and what its header must
// say to belong to this training and to a graph whose manifest has the checksum (Requirements). Only training adds
// Drawn, the settings by which queries are drawn for the epochs, since bundles hold only drawn queries; validation adds
// Limit, the size of its sample.
func (p Params) PartsFolder(split, checksum string) parts.RequiredFolder {
	c := p.Run.Configuration
	want := parts.Requirements{Split: split, Reach: c.Reach, Layers: c.Layers, Remove: c.Remove, Graph: checksum}
	if split == parts.Train {
		want.Drawn = parts.Drawn{Batching: c.Batching, BatchSize: c.BatchSize, QueriesPerEpoch: c.QueriesPerEpoch, Epochs: c.Epochs, Seed: p.Run.Seed}
	} else {
		want.Limit = p.Run.Validation.Limit
	}
	return parts.RequiredFolder{URL: storage.Join(p.Bundles, parts.Name(split, c.Reach, c.Layers)), Requirements: want}
}

// readParts reads the training data from parts of the graph. Of the facts it reads only the keys by
// which batches are made.
func (p Params) readParts(ctx context.Context) (learn.Data, error) {
	loaded, err := encode.Open(ctx, p.Graph, true)
	if err != nil {
		return learn.Data{}, err
	}
	folder, err := p.PartsFolder(parts.Train, loaded.Manifest.Checksum).Open(context.WithoutCancel(ctx)) // a worker keeps it for later rounds
	if err != nil {
		return learn.Data{}, err
	}
	h := folder.Header
	keys, err := steps.ReadKeys(ctx, storage.Join(p.Graph, kg.QueriesFile(parts.Train)), int(h.Queries/2), p.Run.Configuration)
	if err == nil {
		err = h.Draws(p.Run.Configuration, p.Run.Seed)
	}
	if err != nil {
		folder.Close()
		return learn.Data{}, err
	}
	d := learn.Data{
		TrainingGraph: learn.TrainingGraph{Graph: h.Outline(), BaseRelations: loaded.Relations, Train: steps.NewPartsSet(folder, keys)},
		Vocabulary:    checkpoint.VocabularyOf(loaded),
	}
	d.Vocabulary.Entities = h.Entities // whose names an outline has not read
	return d, nil
}

// readValidParts reads the validation queries, if there are any, from parts of the graph that they are about.
func (p Params) readValidParts(ctx context.Context, d *learn.Data) error {
	loaded, err := encode.Open(ctx, p.Graph, true)
	if err != nil {
		return err
	}
	sizes, err := encode.SizesOf(ctx, loaded, "valid")
	if err != nil || sizes.Queries == 0 {
		return err
	}
	folder, err := p.PartsFolder("valid", loaded.Manifest.Checksum).Open(ctx)
	if err != nil {
		return err
	}
	d.ValidOn, d.ValidAll = &kg.View{Graph: folder.Header.Outline()}, folder.Header.Queries
	d.ValidParts, err = workload.ReadParts(ctx, p.Graph, folder, p.Run.Validation.Limit)
	return err
}
