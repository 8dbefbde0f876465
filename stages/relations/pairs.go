package relations

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/model/budget"
	"tagnet/model/engine/relations"
	"tagnet/stages/worker"
)

// SpillFolder is the folder of spill files below Params.Folder.
const SpillFolder = "spill"

// Params are the parameters of Collect.
type Params struct {
	// BaseRelations is the number of relations without inverses.
	BaseRelations int
	// Folder is the URL of the folder that takes the table.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Memory is the budget of a worker process in bytes, a limit for its garbage collector; 0 is no limit.
	Memory int64
	// Threads is the most threads of a process that sort pairs, 0 one per core. Each takes BufferBytes, up to 64 MiB and at least
	// what a thousand pairs take.
	Threads     int
	BufferBytes int64
}

// Collect collects the relation graph as pairs of relations in spill files. Input: Shard, at least one. Output: the URL of the table.
func Collect(s beam.Scope, shards beam.PCollection, p Params) beam.PCollection {
	s = s.Scope("relations.Collect")
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

// ProcessElement emits the spill files of a shard, and an empty Spill.
func (f *pairsFn) ProcessElement(ctx context.Context, shard Shard, emit func(externalsort.Spill)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), worker.Threads(f.Params.Threads, 0))
	if err != nil {
		return err
	}
	defer leave()
	sorter := externalsort.NewSorter(max(minBufferBytes, min(f.Params.BufferBytes, maxBufferBytes)), func(file int) string {
		return f.Params.spill(fmt.Sprintf("pairs-%05d-%05d", shard.Number, file))
	})
	defer sorter.Close()
	filter := newPairFilter()
	// All relations that leave one entity meet: pairs with a <= b, as leaving is ascending.
	err = shard.eachEntity(ctx, f.Params.BaseRelations, func(leaving []int32) error {
		for i, a := range leaving {
			for _, b := range leaving[i:] {
				if filter.recent(a, b) {
					continue
				}
				if err := sorter.Add(ctx, externalsort.Row{a, b}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = sorter.Flush(ctx)
	}
	emit(externalsort.Spill{}) // the table is written even if there are no pairs
	for _, spill := range sorter.Spills {
		emit(spill)
	}
	return err
}

// pairFilter holds the last pair that was added at each hash, or 0: the entities of a knowledge graph are of few kinds, so most
// pairs come again and again.
type pairFilter []uint64

const (
	minBufferBytes = 24 << 10
	maxBufferBytes = 64 << 20 // more makes fewer spill files, but nothing faster
	recentBits     = 19       // 4 MiB
	// golden is 2^64 divided by the golden ratio: the upper bits of a multiple depend on all bits of the factor (Fibonacci hashing).
	golden = 0x9e3779b97f4a7c15
)

func newPairFilter() pairFilter { return make(pairFilter, 1<<recentBits) }

// recent reports whether a pair came lately.
func (f pairFilter) recent(a, b int32) bool {
	pair := uint64(a)<<32 | (uint64(b) + 1) // never 0
	hash := (pair * golden) >> (64 - recentBits)
	if f[hash] == pair {
		return true
	}
	f[hash] = pair
	return false
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
		if s.Records > 0 {
			all = append(all, s)
		}
	}
	// Equal pairs of several shards count once.
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
