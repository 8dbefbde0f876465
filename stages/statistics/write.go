package statistics

import (
	"context"
	"fmt"
	"strconv"

	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
	"tagnet/stages/messages"
)

// writeFn writes both files.
type writeFn struct{ Params Params }

// ProcessElement receives the degrees of all shards.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, shards func(*Degrees) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	all := map[string]*Degrees{Training: {Graph: Training}, Inference: {Graph: Inference}}
	var d Degrees
	for shards(&d) {
		sum := all[d.Graph]
		if sum == nil {
			return fmt.Errorf("degrees of graph %q: want %s or %s", d.Graph, Training, Inference)
		}
		sum.plus(d)
	}
	a, err := f.Params.gather(ctx, *all[Training], *all[Inference])
	if err != nil {
		return err
	}
	if err := parquet.Write(ctx, storage.Join(f.Params.Folder, SharesFile), a.rows()); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, File)
	if err := storage.WriteJSON(ctx, url, a); err != nil {
		return err
	}
	emit(url)
	return nil
}

// gather combines the degrees with the summaries of the other stages.
func (p Params) gather(ctx context.Context, training, inference Degrees) (Analysis, error) {
	s, err := graph.ReadSummary(ctx, p.Graph)
	if err != nil {
		return Analysis{}, err
	}
	a := Analysis{Dataset: s.Dataset, Inference: s.Inference, Relations: s.Relations, Splits: map[string]Split{}}
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
		split := Split{Graph: Training}
		if c.Split == "test" && a.InferenceGraph != nil {
			split.Graph = Inference
		}
		if err := split.distances(ctx, c.Distances); err != nil {
			return a, err
		}
		if err := split.messages(ctx, c.Messages, p.Layers, p.Deltas); err != nil {
			return a, err
		}
		a.Splits[c.Split] = split
	}
	return a, nil
}

// distances adds the distribution of a distances/SPLIT folder.
func (s *Split) distances(ctx context.Context, folder string) error {
	d, err := distances.ReadDistribution(ctx, folder)
	if err != nil {
		return err
	}
	s.Queries, s.ByDistance = d.Queries, map[string]AtDistance{}
	for at, n := range d.ByDistance {
		s.ByDistance[at] = AtDistance{Queries: n, Share: share(n, d.Queries)}
		if hops, err := strconv.Atoi(at); err == nil {
			s.MaxHops = max(s.MaxHops, hops)
		}
	}
	return nil
}

// messages adds the counts of a messages/SPLIT folder for the given layers and deltas.
func (s *Split) messages(ctx context.Context, folder string, layers, deltas []int) error {
	summary, err := messages.ReadSummary(ctx, folder)
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
				return fmt.Errorf("reading %s: %w", storage.Join(folder, messages.SummaryFile), err)
			}
			s.Messages = append(s.Messages, m)
		}
	}
	return nil
}

// messagesOf returns the counts of a number of layers and a delta, with their shares.
func messagesOf(summary messages.Summary, layers, delta int) (Messages, error) {
	for _, c := range summary.Configurations {
		if c.Layers != layers || c.Delta != delta {
			continue
		}
		pruned := c.PrunedEmpty + c.PrunedRedundant
		m := Messages{
			Configuration:    c,
			Shares:           sharesOf(c.Totals),
			PrunedEmptyShare: share(c.PrunedEmpty, pruned), PrunedRedundantShare: share(c.PrunedRedundant, pruned),
		}
		for _, l := range summary.ByLayer {
			if l.Layers == layers && l.Delta == delta {
				m.ByLayer = append(m.ByLayer, Layer{l, sharesOf(l.Totals)})
			}
		}
		if len(m.ByLayer) != layers {
			return m, fmt.Errorf("%d layers and delta %d have counts of %d layers", layers, delta, len(m.ByLayer))
		}
		return m, nil
	}
	return Messages{}, fmt.Errorf("no counts of %d layers and delta %d", layers, delta)
}

func sharesOf(t messages.Totals) Shares {
	return Shares{
		Sent: share(t.Kept-t.KeptEmpty, t.NBFNet), KeptEmpty: share(t.KeptEmpty, t.NBFNet),
		PrunedEmpty: share(t.PrunedEmpty, t.NBFNet), PrunedRedundant: share(t.PrunedRedundant, t.NBFNet),
	}
}
