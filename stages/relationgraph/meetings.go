package relationgraph

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/model/budget"
	"tagnet/model/ultra"
)

// Params are the parameters of ByMeetings and ByPairs.
type Params struct {
	// BaseRelations is the number of relations without inverses.
	BaseRelations int
	// Folder is the URL of the folder that takes the table.
	Folder string
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Memory is the budget of a worker process in bytes, a limit for its garbage collector; 0 is no limit.
	Memory int64
	// Threads is the most threads of a process that sort pairs, 0 one per core. Each takes BufferBytes, up to 64 MiB and at least
	// what a thousand pairs take.
	Threads     int
	BufferBytes int64
}

// ByMeetings collects the relation graph in rows of bits. Input: Shard, at least one. Output: the URL of the table.
func ByMeetings(s beam.Scope, shards beam.PCollection, p Params) beam.PCollection {
	s = s.Scope("relationgraph.ByMeetings")
	leaving := beam.ParDo(s, &readFn{Params: p}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &writeFn{Params: p}, beam.Combine(s, &meetFn{BaseRelations: p.BaseRelations}, leaving))
}

func init() {
	beam.RegisterDoFn(&readFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeFor[*meetFn]())
	beam.RegisterCoder(reflect.TypeFor[*ultra.Meetings](), encode, decode)
}

func encode(m *ultra.Meetings) ([]byte, error) { return m.MarshalBinary() }

func decode(encoded []byte) (*ultra.Meetings, error) {
	m := &ultra.Meetings{}
	return m, m.UnmarshalBinary(encoded)
}

// readFn reads the relations that leave the entities of a shard.
type readFn struct{ Params Params }

// Setup limits the memory of the worker.
func (f *readFn) Setup() { budget.Limit(f.Params.Memory) }

// ProcessElement emits an element for each entity. It always emits one, since nothing comes out of a combination of no elements.
func (f *readFn) ProcessElement(ctx context.Context, shard Shard, emit func(Leaving)) error {
	emit(Leaving{})
	return shard.eachEntity(ctx, f.Params.BaseRelations, func(l Leaving) error {
		emit(l)
		return nil
	})
}

// meetFn collects meetings. Workers add entities to their own before anything crosses the barrier. Meetings are sets, so the order does
// not matter.
type meetFn struct{ BaseRelations int }

// CreateAccumulator returns meetings of which there are none.
func (f *meetFn) CreateAccumulator() *ultra.Meetings { return ultra.NewMeetings(f.BaseRelations) }

// AddInput adds those of an entity.
func (f *meetFn) AddInput(m *ultra.Meetings, l Leaving) (*ultra.Meetings, error) {
	return m, m.Add(l.Relations)
}

// MergeAccumulators adds the meetings of b to a.
func (f *meetFn) MergeAccumulators(a, b *ultra.Meetings) (*ultra.Meetings, error) {
	return a, a.Merge(b)
}

// writeFn writes the table of collected meetings.
type writeFn struct{ Params Params }

// ProcessElement receives the meetings of all entities and emits the URL of the table.
func (f *writeFn) ProcessElement(ctx context.Context, m *ultra.Meetings, emit func(string)) error {
	return f.Params.write(ctx, m.Graph(), emit)
}
