package analysis

import (
	"context"
	"fmt"
	"strconv"

	"tagnet/formats/counts"
	"tagnet/formats/storage"
)

// Inputs are the files that an Analysis summarizes, besides the degrees.
type Inputs struct {
	// Graph is the URL of the graph/ folder.
	Graph string
	// Splits are the splits whose queries are analyzed.
	Splits []Counted
	// Layers and Deltas are the numbers of layers and the deltas whose counts are included, every
	// number of layers with every delta.
	Layers, Deltas []int
}

// Counted is a split and the folders with its counts.
type Counted struct {
	Split string
	// Distances and Messages are the URLs of distances/SPLIT and messages/SPLIT.
	Distances, Messages string
}

// Gather combines the degrees of both graphs with what was counted before.
func (p Inputs) Gather(ctx context.Context, training, inference Degrees) (Analysis, error) {
	s, err := counts.ReadDataset(ctx, p.Graph)
	if err != nil {
		return Analysis{}, err
	}
	a := Analysis{Dataset: s.Dataset, Inference: s.Inference, Relations: s.Relations, Splits: map[string]Split{}}
	if a.Graph, err = training.of(s.Graph()); err != nil {
		return a, err
	}
	if i := s.InferenceGraph; i != nil {
		g, err := inference.of(*i)
		if err != nil {
			return a, err
		}
		a.InferenceGraph = &g
	}
	for _, c := range p.Splits {
		split := Split{Graph: Training}
		if c.Split == "test" && a.InferenceGraph != nil {
			split.Graph = Inference
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
func addDistances(ctx context.Context, s *Split, folder string) error {
	d, err := counts.ReadDistribution(ctx, folder)
	if err != nil {
		return err
	}
	s.Queries, s.ByDistance = d.Queries, map[string]AtDistance{}
	for at, n := range d.ByDistance {
		s.ByDistance[at] = AtDistance{Queries: n, Share: Share(n, d.Queries)}
		if hops, err := strconv.Atoi(at); err == nil {
			s.MaxHops = max(s.MaxHops, hops)
		}
	}
	return nil
}

// addMessages adds the counts of a messages/SPLIT folder for the given layers and deltas.
func addMessages(ctx context.Context, s *Split, folder string, layers, deltas []int) error {
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
func messagesOf(summary counts.Summary, layers, delta int) (Messages, error) {
	for _, c := range summary.Configurations {
		if c.Layers != layers || c.Delta != delta {
			continue
		}
		pruned := c.PrunedEmpty + c.PrunedRedundant
		m := Messages{
			Configuration:    c,
			Shares:           sharesOf(c.Totals),
			PrunedEmptyShare: Share(c.PrunedEmpty, pruned), PrunedRedundantShare: Share(c.PrunedRedundant, pruned),
		}
		for _, l := range summary.ByLayer {
			if l.Layers == layers && l.Delta == delta {
				m.ByLayer = append(m.ByLayer, Layer{LayerSum: l, Shares: sharesOf(l.Totals)})
			}
		}
		if len(m.ByLayer) != layers {
			return m, fmt.Errorf("%d layers and delta %d have counts of %d layers", layers, delta, len(m.ByLayer))
		}
		return m, nil
	}
	return Messages{}, fmt.Errorf("no counts of %d layers and delta %d", layers, delta)
}

func sharesOf(t counts.Totals) Shares {
	return Shares{
		Sent: Share(t.Kept-t.KeptEmpty, t.NBFNet), KeptEmpty: Share(t.KeptEmpty, t.NBFNet),
		PrunedEmpty: Share(t.PrunedEmpty, t.NBFNet), PrunedRedundant: Share(t.PrunedRedundant, t.NBFNet),
	}
}
