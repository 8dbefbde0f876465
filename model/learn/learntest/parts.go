package learntest

import (
	"context"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
)

// FoundPart is a part, its queries, and what was removed from the graph before it was found.
type FoundPart struct {
	Part    parts.Subgraph
	Queries []parts.Numbered
}

// HeaderOf returns the header of parts of a split's queries, without the numbers of its files.
func HeaderOf(ctx context.Context, k *kg.KG, split string, c configuration.Configuration, drawn *parts.Drawn) (parts.Header, error) {
	g := k.View(split).Graph
	queries, err := k.Queries(ctx, split)
	h := parts.Header{
		FormatVersion: parts.FormatVersion, Split: split, Queries: int64(len(queries)), Reach: c.Reach, Layers: c.Layers, Remove: configuration.RemoveNone,
		Entities: g.Entities, BaseRelations: g.BaseRelations, MeanLogDegree: g.MeanLogDegree,
		Vocabulary: k.Vocabulary, Graph: k.Manifest.Checksum, Drawn: drawn,
	}
	if split == parts.Train {
		h.Remove = c.Remove
	}
	counts := map[int64]int64{}
	for o := range int32(g.Entities) {
		counts[int64(g.Degree(o))]++
	}
	for degree, count := range counts {
		h.Degrees = append(h.Degrees, [2]int64{degree, count})
	}
	slices.SortFunc(h.Degrees, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	return h, err
}

// FindParts finds all parts of a header.
func FindParts(ctx context.Context, k *kg.KG, h parts.Header) ([]FoundPart, error) {
	if h.Split == parts.Train {
		return findTraining(ctx, k, h)
	}
	view := k.View(h.Split)
	queries, err := k.Queries(ctx, h.Split)
	if err != nil {
		return nil, err
	}
	known, err := view.Answers(ctx)
	if err != nil {
		return nil, err
	}
	finder := parts.NewFinder(view.Graph, h.Reach, h.Layers)
	var all []FoundPart
	source := int32(-1)
	for i, q := range queries {
		if h.Limit > 0 && int64(i)*h.Limit%int64(len(queries)) >= h.Limit {
			continue
		}
		if q.Source != source {
			source = q.Source
			all = append(all, FoundPart{})
			finder.Find(graph.Query{Source: q.Source}, &all[len(all)-1].Part)
		}
		last := &all[len(all)-1]
		last.Queries = append(last.Queries, parts.Numbered{Number: int64(i), Query: q, Known: known.Of(q.Source, q.Relation)})
	}
	return all, nil
}

// findTraining returns the part of each training query, or of those that the header's epochs draw.
func findTraining(ctx context.Context, k *kg.KG, h parts.Header) ([]FoundPart, error) {
	set, err := steps.NewTrainingSet(ctx, k)
	if err != nil {
		return nil, err
	}
	g, drawn := k.Train.Graph, map[int64]bool{}
	if d := h.Drawn; d != nil {
		for epoch := 1; epoch <= d.Epochs; epoch++ {
			for _, batch := range steps.Schedule(set.Keys(d.Configuration()), d.Configuration(), uint64(d.Seed), epoch) {
				for _, draw := range batch {
					drawn[draw.Number()] = true
				}
			}
		}
	}
	// A query's removal leaves its graph before the part is found.
	finder := parts.NewFinder(g, h.Reach, h.Layers)
	var all []FoundPart
	for number := range int64(2 * len(set.Facts)) {
		if h.Drawn != nil && !drawn[number] {
			continue
		}
		e := steps.Draw{Fact: int32(number / 2), Inverse: number%2 == 1}.Example(set.Facts, set.BaseRelations, 0, 0)
		var f FoundPart
		q := e.Query
		q.Removal = configuration.Removal(h.Remove)
		finder.Find(q, &f.Part)
		f.Queries = []parts.Numbered{{Number: number, Query: e.Query, Known: set.Graph.Answers(e.Source, e.Relation)}}
		all = append(all, f)
	}
	return all, nil
}

// WriteParts writes a folder of parts of a split's queries, in a number of files.
func WriteParts(ctx context.Context, folder string, k *kg.KG, split string, c configuration.Configuration, drawn *parts.Drawn, files int) error {
	h, err := HeaderOf(ctx, k, split, c, drawn)
	if err != nil {
		return err
	}
	found, err := FindParts(ctx, k, h)
	if err != nil {
		return err
	}
	for i := range files {
		own := found[i*len(found)/files : (i+1)*len(found)/files]
		h.Firsts = append(h.Firsts, own[0].Queries[0].Number)
		if err := writeFile(ctx, storage.Join(folder, parts.File(i, files)), h, own); err != nil {
			return err
		}
	}
	if err := parts.WriteHeader(ctx, folder, h); err != nil {
		return err
	}
	listed, err := manifest.HashFolder(ctx, folder)
	if err != nil {
		return err
	}
	return manifest.Write(ctx, folder, manifest.Manifest{Stage: "bundle", Vocabulary: h.Vocabulary, Files: listed})
}

func writeFile(ctx context.Context, url string, h parts.Header, found []FoundPart) error {
	w, err := parts.Create(ctx, url, h)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, f := range found {
		if err := w.Write(&f.Part, f.Queries); err != nil {
			return err
		}
	}
	return w.Commit()
}
