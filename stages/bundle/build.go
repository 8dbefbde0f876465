package bundle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/messages"
	"tagnet/model/search"
)

// Builder makes bundles of units. It holds, per thread, one search over the graph: 5 bytes an
// entity. It is not for concurrent use.
type Builder struct {
	graph *graph.Graph
	known func(source, relation int32) []int32
	hops  int
	seats []*seat
}

type seat struct {
	tables    *Tables // nil: every source is searched
	searcher  *search.Searcher
	distances []uint8
	packed    []byte
}

// NewBuilder returns a builder over a graph. known gives the sorted known answers of a
// question; distances is the folder of tables made before, or "". The number of threads changes
// nothing in what is built. Close ends it.
func NewBuilder(ctx context.Context, g *graph.Graph, known func(source, relation int32) []int32, distances string, hops, threads int) (*Builder, error) {
	b := &Builder{graph: g, known: known, hops: hops}
	for range max(1, threads) {
		s := &seat{
			searcher: search.NewSearcher(g), distances: make([]uint8, g.Entities),
			packed: make([]byte, tables.PackedLen(g.Entities)),
		}
		b.seats = append(b.seats, s)
		if distances == "" {
			continue
		}
		var err error
		if s.tables, err = OpenTables(ctx, distances, g.Entities, hops); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// Close ends the builder.
func (b *Builder) Close() error {
	var errs []error
	for _, s := range b.seats {
		if s.tables != nil {
			errs = append(errs, s.tables.Close())
		}
	}
	return errors.Join(errs...)
}

// Build makes the bundle of some units, ordered by source.
func (b *Builder) Build(number int, units []Unit) (*Bundle, error) {
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
	err := b.each(len(out.Groups), func(s *seat, i int) error {
		g := &out.Groups[i]
		packed, err := b.row(s, g.Source)
		if err != nil {
			return fmt.Errorf("distances of source %d: %w", g.Source, err)
		}
		g.Distances, err = EncodeRow(packed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Measure sets the cost of each unit to the messages that its propagation sends through the
// window of that delta: those that are kept and not empty.
func (b *Builder) Measure(units []Unit, layers, delta int) error {
	var starts []int
	for i := range units {
		if i == 0 || units[i-1].Source != units[i].Source {
			starts = append(starts, i)
		}
	}
	return b.each(len(starts), func(s *seat, i int) error {
		source := units[starts[i]].Source
		if _, err := b.row(s, source); err != nil { // sets s.distances
			return fmt.Errorf("distances of source %d: %w", source, err)
		}
		levels := messages.CountLevels(b.graph, s.distances, b.hops)
		cost := int64(1) // of the question itself, so that no cost is zero
		for layer := 1; layer <= layers; layer++ {
			c := levels.Layer(layers, layer, delta)
			cost += c.Kept - c.KeptEmpty
		}
		for j := starts[i]; j < len(units) && units[j].Source == source; j++ {
			units[j].Cost = cost
		}
		return nil
	})
}

// row is the packed row of a source, from the tables or searched; good until the next call
// with the same seat.
func (b *Builder) row(s *seat, source int32) ([]byte, error) {
	if s.tables != nil {
		found, err := s.tables.Row(source, s.distances)
		if err != nil {
			return nil, err
		}
		if found {
			tables.PackInto(s.packed, s.distances)
			return s.packed, nil
		}
	}
	s.searcher.Search(source, b.hops, graph.Removal{}, s.distances)
	tables.PackInto(s.packed, s.distances)
	return s.packed, nil
}

// each calls work for 0..n-1, shared out over the seats, and returns the first error.
func (b *Builder) each(n int, work func(s *seat, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	for _, s := range b.seats {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := work(s, i); err != nil {
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
