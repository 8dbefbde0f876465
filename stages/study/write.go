package study

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/graph/kg"
	"tagnet/model/study"
	"tagnet/stages/encode"
)

func init() {
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeFor[*mergeFn]())
	beam.RegisterType(reflect.TypeFor[sums]())
}

// sums are the counts of some sources, summed over their queries. They are an element of the pipeline, whose size does
// not depend on the number of sources.
type sums struct {
	Queries int64
	// Counts has the counts of each layer, in the order of CountParams.each.
	Counts []study.Counts
	// Edges, Kept and Chosen come from a model's choices: all edges, and by layer what is sent and what A*Net chooses.
	Edges        int64
	Kept, Chosen []int64
}

func (s sums) merge(other sums) sums {
	return sums{
		Queries: s.Queries + other.Queries, Counts: added(s.Counts, other.Counts, study.Counts.Plus),
		Edges: s.Edges + other.Edges, Kept: added(s.Kept, other.Kept, plus), Chosen: added(s.Chosen, other.Chosen, plus),
	}
}

func plus(a, b int64) int64 { return a + b }

// added returns the sums of the entries of two lists, of which one may be empty.
func added[T any](a, b []T, plus func(a, b T) T) []T {
	list := make([]T, max(len(a), len(b)))
	copy(list, a)
	for i, x := range b {
		list[i] = plus(list[i], x)
	}
	return list
}

// mergeFn adds up the sums of shards. They are integers: the order does not matter.
type mergeFn struct{}

func (*mergeFn) CreateAccumulator() sums          { return sums{} }
func (*mergeFn) AddInput(sum, one sums) sums      { return sum.merge(one) }
func (*mergeFn) MergeAccumulators(a, b sums) sums { return a.merge(b) }

type writeFn struct {
	Params CountParams

	view *kg.View
}

// Setup loads the graph, once per process, for its size.
func (f *writeFn) Setup(ctx context.Context) error {
	loaded, err := encode.Load(ctx, f.Params.Graph)
	if err != nil {
		return err
	}
	f.view = loaded.View(f.Params.Split)
	return nil
}

// ProcessElement receives the sums of all shards, when all parts are written, and emits the URL of the summary.
func (f *writeFn) ProcessElement(ctx context.Context, all sums, emit func(string)) error {
	p := f.Params
	summary := counts.Summary{Split: p.Split, Queries: all.Queries, Edges: f.view.Graph.Edges(), Remove: p.Remove, Reach: p.Reach}
	at := 0
	for layers, delta := range p.each {
		addTo(&summary, layers, delta, all.Counts[at:at+layers])
		at += layers
	}
	if p.Model != nil {
		summary.AStar = p.choices(all)
	}
	url := storage.Join(p.Folder, counts.SummaryFile)
	if err := storage.WriteJSON(p.Lock.Guard(ctx), url, summary); err != nil {
		return err
	}
	emit(url)
	return nil
}

// choices returns the sums of a model's choices.
func (p CountParams) choices(all sums) *counts.AStar {
	c := p.Model.Configuration
	sum := &counts.AStar{Checkpoint: p.Model.Checkpoint, Policy: c.Policy, Layers: c.Layers, Delta: c.Delta, NBFNet: all.Edges}
	for i := range c.Layers {
		layer := counts.AStarLayer{Layer: i + 1, AStar: all.Chosen[i], Kept: all.Kept[i]}
		sum.ByLayer = append(sum.ByLayer, layer)
		sum.AStar += layer.AStar
		sum.Kept += layer.Kept
	}
	sum.Decrease, sum.DecreaseOfAStar = counts.Decrease(sum.Kept, sum.NBFNet), counts.Decrease(sum.Kept, sum.AStar)
	return sum
}

func totals(c study.Counts) counts.Totals {
	return counts.Totals{NBFNet: c.Edges, Kept: c.Kept, KeptEmpty: c.KeptEmpty, PrunedEmpty: c.PrunedEmpty, PrunedRedundant: c.PrunedRedundant}
}

// addTo adds the sums of the layers of a configuration.
func addTo(s *counts.Summary, layers, delta int, sums []study.Counts) {
	var all study.Counts
	for i, sum := range sums {
		all = all.Plus(sum)
		s.ByLayer = append(s.ByLayer, counts.LayerSum{Layers: layers, Delta: delta, Layer: i + 1, Totals: totals(sum)})
	}
	mean := func(sum int64) float64 { return float64(sum) / float64(max(1, s.Queries)) }
	s.Configurations = append(s.Configurations, counts.Configuration{
		Layers: layers, Delta: delta, Totals: totals(all),
		Decrease: counts.Decrease(all.Kept, all.Edges), DecreaseWithoutEmpty: counts.Decrease(all.Kept-all.KeptEmpty, all.Edges),
		NBFNetPerQuery: mean(all.Edges), KeptPerQuery: mean(all.Kept),
	})
}
