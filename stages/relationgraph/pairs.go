package relationgraph

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/relations"
	"tagnet/stages/worker"
)

// SpillFolder is the folder of spill files below Params.Folder.
const SpillFolder = "spill"

// ByPairs collects the relation graph as pairs of relations in spill files. Input: Shard, at least one. Output: the URL of the same
// table that ByMeetings writes.
func ByPairs(s beam.Scope, shards beam.PCollection, p Params) beam.PCollection {
	s = s.Scope("relationgraph.ByPairs")
	spills := beam.ParDo(s, &pairsFn{Params: p}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &mergePairsFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, spills)))
}

func init() {
	beam.RegisterDoFn(&pairsFn{})
	beam.RegisterDoFn(&mergePairsFn{})
	beam.RegisterType(reflect.TypeFor[externalsort.Spill]())
}

// spill returns the URL of a spill file.
func (p Params) spill(name string) string { return storage.Join(p.Folder, SpillFolder, name) }

// pairsFn writes the pairs of the relations that leave the entities of a shard.
type pairsFn struct{ Params Params }

// Setup limits the memory of the worker.
func (f *pairsFn) Setup() { budget.Limit(f.Params.Memory) }

// ProcessElement emits the spill files of a shard, of which one may be empty.
func (f *pairsFn) ProcessElement(ctx context.Context, shard Shard, emit func(externalsort.Spill)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), worker.Threads(f.Params.Threads, 0))
	if err != nil {
		return err
	}
	defer leave()
	sorter := newPairSorter(f.Params, shard.Number, emit)
	defer sorter.close()
	err = shard.eachEntity(ctx, f.Params.BaseRelations, func(leaving []int32) error {
		for i, a := range leaving {
			for _, b := range leaving[i:] {
				if err := sorter.add(ctx, a, b); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return sorter.flush(ctx)
}

// pairSorter sorts pairs of relations and writes them to spill files.
type pairSorter struct {
	params        Params
	shard, files  int
	emit          func(externalsort.Spill)
	rows, scratch []externalsort.Row
	// recent has a pair that was added lately at each hash, or 0: the entities of a knowledge graph are of few kinds, so most
	// pairs come again and again.
	recent []uint64
}

const (
	maxBufferBytes = 64 << 20 // more makes fewer spill files, but nothing faster
	minPairs       = 1 << 10  // that are sorted at a time
	recentBits     = 19       // 4 MiB
)

func newPairSorter(p Params, shard int, emit func(externalsort.Spill)) *pairSorter {
	rows := int(max(minPairs, min(p.BufferBytes, maxBufferBytes)/(2*externalsort.RowBytes)))
	return &pairSorter{
		params: p, shard: shard, emit: emit, recent: make([]uint64, 1<<recentBits),
		rows: externalsort.Buffer(rows), scratch: externalsort.Buffer(rows),
	}
}

// close returns the buffers.
func (s *pairSorter) close() { externalsort.Return(s.rows, s.scratch) }

// add adds a pair unless it was added lately.
func (s *pairSorter) add(ctx context.Context, a, b int32) error {
	pair := uint64(a)<<32 | uint64(b) + 1
	hash := pair * 0x9e3779b97f4a7c15 >> (64 - recentBits)
	if s.recent[hash] == pair {
		return nil
	}
	s.recent[hash] = pair
	if len(s.rows) == cap(s.rows) {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.rows = append(s.rows, externalsort.Row{a, b})
	return nil
}

// flush writes the pairs as one spill file, in order and without repetitions.
func (s *pairSorter) flush(ctx context.Context) error {
	s.rows, s.scratch = externalsort.Sort(s.rows, s.scratch)
	w, err := externalsort.CreateRows(ctx, s.params.spill(fmt.Sprintf("pairs-%05d-%05d", s.shard, s.files)))
	if err != nil {
		return err
	}
	defer w.Abort()
	last := externalsort.Row{-1}
	for _, r := range s.rows {
		if r == last {
			continue
		}
		last = r
		if err := w.Write(r); err != nil {
			return err
		}
	}
	spill := w.Cut()
	if err := w.Commit(); err != nil {
		return err
	}
	s.emit(spill)
	s.files++
	s.rows = s.rows[:0]
	return nil
}

// mergePairsFn merges the spill files of all shards.
type mergePairsFn struct{ Params Params }

// ProcessElement writes the table, removes the spill files and emits the table's URL.
func (f *mergePairsFn) ProcessElement(ctx context.Context, _ int, spills func(*externalsort.Spill) bool, emit func(string)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), worker.Threads(f.Params.Threads, 0))
	if err != nil {
		return err
	}
	defer leave()
	externalsort.Forget() // all pairs are sorted
	var all []externalsort.Spill
	for s := (externalsort.Spill{}); spills(&s); {
		all = append(all, s)
	}
	pairs, last := relations.NewPairs(f.Params.BaseRelations), externalsort.Row{-1}
	err = externalsort.MergeRows(ctx, all, f.Params.spill("pairs"), func(r externalsort.Row, _ int) error {
		if r == last {
			return nil
		}
		last = r
		return pairs.Add(r[0], r[1])
	})
	if err != nil {
		return err
	}
	g, err := pairs.Graph()
	if err != nil {
		return err
	}
	if err := f.Params.write(ctx, g, emit); err != nil {
		return err
	}
	return storage.RemoveAll(ctx, f.Params.spill(""))
}
