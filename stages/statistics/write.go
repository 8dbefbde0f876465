package statistics

import (
	"context"
	"fmt"
	"strconv"

	"tagnet/formats/analysis"
	"tagnet/formats/counts"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
)

// writeFn writes both files.
type writeFn struct{ Params Params }

// ProcessElement receives the degrees of all shards.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, shards func(*Degrees) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	all := map[string]*Degrees{analysis.Training: {Graph: analysis.Training}, analysis.Inference: {Graph: analysis.Inference}}
	var d Degrees
	for shards(&d) {
		sum := all[d.Graph]
		if sum == nil {
			return fmt.Errorf("degrees of graph %q: want %s or %s", d.Graph, analysis.Training, analysis.Inference)
		}
		sum.plus(d)
	}
	a, err := f.Params.gather(ctx, *all[analysis.Training], *all[analysis.Inference])
	if err != nil {
		return err
	}
	if err := parquet.Write(ctx, storage.Join(f.Params.Folder, analysis.SharesFile), a.Rows()); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, analysis.File)
	if err := storage.WriteJSON(ctx, url, a); err != nil {
		return err
	}
	emit(url)
	return nil
}

// gather combines the degrees with the summaries of the other stages.
func (p Params) gather(ctx context.Context, training, inference Degrees) (analysis.Analysis, error) {
	s, err := counts.ReadDataset(ctx, p.Graph)
	if err != nil {
		return analysis.Analysis{}, err
	}
	a := analysis.Analysis{Dataset: s.Dataset, Inference: s.Inference, Relations: s.Relations, Splits: map[string]analysis.Split{}}
	if a.Graph, err = training.of(s.Entities, s.Facts, s.Edges, s.MeanDegree); err != nil {
		return a, err
	}
	if i := s.InferenceGraph; i != nil {
		g, err := inference.of(i.Entities, i.Facts, i.Edges, i.MeanDegree)
		if err != nil {
			return a, err
		}
		a.InferenceGraph = &g
	}
	for _, c := range p.Splits {
		split := analysis.Split{Graph: analysis.Training}
		if c.Split == "test" && a.InferenceGraph != nil {
			split.Graph = analysis.Inference
		}
		if err := addDistances(ctx, &split, c.Distances); err != nil {
			return a, err
		}
		if err := addMessages(ctx, &split, c.Messages, p.Layers, p.Deltas); err != nil {
			return a, err
		}
		a.Splits[c.Split] = split
	}
	return a, nil
}

// addDistances adds the distribution of a distances/SPLIT folder.
func addDistances(ctx context.Context, s *analysis.Split, folder string) error {
	d, err := counts.ReadDistribution(ctx, folder)
	if err != nil {
		return err
	}
	s.Queries, s.ByDistance = d.Queries, map[string]analysis.AtDistance{}
	for at, n := range d.ByDistance {
		s.ByDistance[at] = analysis.AtDistance{Queries: n, Share: analysis.Share(n, d.Queries)}
		if hops, err := strconv.Atoi(at); err == nil {
			s.MaxHops = max(s.MaxHops, hops)
		}
	}
	return nil
}

// addMessages adds the counts of a messages/SPLIT folder for the given layers and deltas.
func addMessages(ctx context.Context, s *analysis.Split, folder string, layers, deltas []int) error {
	summary, err := counts.ReadSummary(ctx, folder)
	if err != nil {
		return err
	}
	if summary.Queries != s.Queries {
		return fmt.Errorf("%s counts the messages of %d queries, the distances are those of %d", folder, summary.Queries, s.Queries)
	}
	s.Remove, s.AStar = summary.Remove, summary.AStar
	for _, l := range layers {
		for _, d := range deltas {
			m, err := messagesOf(summary, l, d)
			if err != nil {
				return fmt.Errorf("reading %s: %w", storage.Join(folder, counts.SummaryFile), err)
			}
			s.Messages = append(s.Messages, m)
		}
	}
	return nil
}

// messagesOf returns the counts of a number of layers and a delta, with their shares.
func messagesOf(summary counts.Summary, layers, delta int) (analysis.Messages, error) {
	for _, c := range summary.Configurations {
		if c.Layers != layers || c.Delta != delta {
			continue
		}
		pruned := c.PrunedEmpty + c.PrunedRedundant
		m := analysis.Messages{
			Configuration:    c,
			Shares:           sharesOf(c.Totals),
			PrunedEmptyShare: analysis.Share(c.PrunedEmpty, pruned), PrunedRedundantShare: analysis.Share(c.PrunedRedundant, pruned),
		}
		for _, l := range summary.ByLayer {
			if l.Layers == layers && l.Delta == delta {
				m.ByLayer = append(m.ByLayer, analysis.Layer{LayerSum: l, Shares: sharesOf(l.Totals)})
			}
		}
		if len(m.ByLayer) != layers {
			return m, fmt.Errorf("%d layers and delta %d have counts of %d layers", layers, delta, len(m.ByLayer))
		}
		return m, nil
	}
	return analysis.Messages{}, fmt.Errorf("no counts of %d layers and delta %d", layers, delta)
}

func sharesOf(t counts.Totals) analysis.Shares {
	return analysis.Shares{
		Sent: analysis.Share(t.Kept-t.KeptEmpty, t.NBFNet), KeptEmpty: analysis.Share(t.KeptEmpty, t.NBFNet),
		PrunedEmpty: analysis.Share(t.PrunedEmpty, t.NBFNet), PrunedRedundant: analysis.Share(t.PrunedRedundant, t.NBFNet),
	}
}
