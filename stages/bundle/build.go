package bundle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/model/multisource"
	"tagnet/stages/distances"
)

// Builder makes bundles of units. Each of its threads searches in budget.SearchBytes bytes. It is not
// for concurrent use.
type Builder struct {
	graph   *graph.Graph
	known   func(source, relation int32) []int32
	hops    int
	threads int
	readers []*reader // as many as threads, or none where there are no tables
}

// reader reads rows of tables that were made before.
type reader struct {
	tables    *Tables
	distances []uint8
	packed    []byte
}

// NewBuilder returns a builder over a graph. known gives the sorted known answers of a
// question; distances is the folder of tables made before, or "". The number of threads changes
// nothing in what is built. Close ends it.
func NewBuilder(ctx context.Context, g *graph.Graph, known func(source, relation int32) []int32, distances string, hops, threads int) (*Builder, error) {
	b := &Builder{graph: g, known: known, hops: hops, threads: max(1, threads)}
	for range b.threads {
		if distances == "" {
			break
		}
		opened, err := OpenTables(ctx, distances, g.Entities, hops)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.readers = append(b.readers, &reader{opened, make([]uint8, g.Entities), make([]byte, tables.PackedLen(g.Entities))})
	}
	return b, nil
}

// Close ends the builder.
func (b *Builder) Close() error {
	var errs []error
	for _, r := range b.readers {
		errs = append(errs, r.tables.Close())
	}
	return errors.Join(errs...)
}

// Build makes the bundle of some units, ordered by source.
func (b *Builder) Build(ctx context.Context, number int, units []Unit) (*Bundle, error) {
	out := &Bundle{Number: number}
	for _, u := range units {
		if n := len(out.Groups); n == 0 || out.Groups[n-1].Source != u.Source {
			out.Groups = append(out.Groups, Group{Source: u.Source})
		}
		q := Question{Relation: u.Relation, Known: b.known(u.Source, u.Relation)}
		for _, query := range u.Queries {
			q.Numbers = append(q.Numbers, query.Number)
			q.Answers = append(q.Answers, query.Answer)
		}
		g := &out.Groups[len(out.Groups)-1]
		g.Questions = append(g.Questions, q)
	}
	if err := b.readRows(out.Groups); err != nil {
		return nil, err
	}
	return out, b.searchRows(ctx, out.Groups)
}

// readRows gives the groups whose sources are in the tables their rows.
func (b *Builder) readRows(groups []Group) error {
	return b.each(len(groups), func(r *reader, i int) error {
		g := &groups[i]
		found, err := r.tables.Row(g.Source, r.distances)
		if err == nil && found {
			tables.PackInto(r.packed, r.distances)
			g.Distances, err = EncodeRow(r.packed)
		}
		if err != nil {
			return fmt.Errorf("distances of source %d: %w", g.Source, err)
		}
		return nil
	})
}

// searchRows gives the groups without a row theirs.
func (b *Builder) searchRows(ctx context.Context, groups []Group) error {
	var left []*Group
	var sources []int32
	for i := range groups {
		if groups[i].Distances == nil {
			left, sources = append(left, &groups[i]), append(sources, groups[i].Source)
		}
	}
	encode := func(s *distances.Result) ([]byte, error) { return EncodeRow(s.Packed) }
	return distances.Sweep(ctx, b.sweep(sources, multisource.Gather{Distances: true}), encode, func(_ int32, row []byte) error {
		left[0].Distances, left = row, left[1:]
		return nil
	})
}

// sweep is a search from sources for what is gathered.
func (b *Builder) sweep(sources []int32, gather multisource.Gather) distances.SweepParams {
	return distances.SweepParams{
		Graph: b.graph, Sources: sources, Hops: b.hops, Gather: gather, Threads: b.threads, Words: budget.WordsWithin(int64(b.graph.Entities), budget.SearchBytes),
	}
}

// Measure sets the cost of each unit to the messages that its propagation sends through the
// window of that delta: those that are kept and not empty.
func (b *Builder) Measure(ctx context.Context, units []Unit, layers, delta int) error {
	var sources []int32
	for i := range units {
		if i == 0 || units[i-1].Source != units[i].Source {
			sources = append(sources, units[i].Source)
		}
	}
	cost := func(s *distances.Result) (int64, error) {
		cost := int64(1) // of the question itself, so that no cost is zero
		for layer := 1; layer <= layers; layer++ {
			c := s.Levels.Layer(layers, layer, delta)
			cost += c.Kept - c.KeptEmpty
		}
		return cost, nil
	}
	return distances.Sweep(ctx, b.sweep(sources, multisource.Gather{Levels: true}), cost, func(source int32, cost int64) error {
		for ; len(units) > 0 && units[0].Source == source; units = units[1:] {
			units[0].Cost = cost
		}
		return nil
	})
}

// each calls work for 0..n-1, shared out over the readers, and returns the first error.
func (b *Builder) each(n int, work func(r *reader, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	for _, r := range b.readers {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := work(r, i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	wait.Wait()
	return first
}
