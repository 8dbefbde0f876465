package relations

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage/lock"
	"tagnet/model/budget"
	"tagnet/model/engine/relations"
	"tagnet/stages/worker"
)

// Params are the parameters of ByMeetings and ByPairs.
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

// ByMeetings collects the relation graph in rows of bits. Input: Shard, at least one. Output: the URL of the table. An element is
// the meetings of a shard, not of an entity: Flink does not combine elements before a barrier.
func ByMeetings(s beam.Scope, shards beam.PCollection, p Params) beam.PCollection {
	s = s.Scope("relations.ByMeetings")
	meetings := beam.ParDo(s, &meetFn{Params: p}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &writeFn{Params: p}, beam.Combine(s, &mergeFn{BaseRelations: p.BaseRelations}, meetings))
}

func init() {
	beam.RegisterDoFn(&meetFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeFor[*mergeFn]())
	beam.RegisterCoder(reflect.TypeFor[*relations.Meetings](), encode, decode)
}

func encode(m *relations.Meetings) ([]byte, error) { return m.MarshalBinary() }

func decode(encoded []byte) (*relations.Meetings, error) {
	m := &relations.Meetings{}
	return m, m.UnmarshalBinary(encoded)
}

// meetingShards is how many shards of edges a process reads at a time into rows of bits of their own.
const meetingShards = 4

// meetFn collects the meetings of a shard.
type meetFn struct{ Params Params }

// Setup limits the memory of the worker.
func (f *meetFn) Setup() { budget.Limit(f.Params.Memory) }

// ProcessElement emits the meetings of the relations that leave the entities of a shard.
func (f *meetFn) ProcessElement(ctx context.Context, shard Shard, emit func(*relations.Meetings)) error {
	ctx, leave, err := worker.Enter(ctx, meetingShards)
	if err != nil {
		return err
	}
	defer leave()
	m := relations.NewMeetings(f.Params.BaseRelations)
	if err := shard.eachEntity(ctx, f.Params.BaseRelations, m.Add); err != nil {
		return err
	}
	emit(m)
	return nil
}

// mergeFn merges the meetings of shards. They are sets, so the order does not matter.
type mergeFn struct{ BaseRelations int }

// CreateAccumulator returns meetings of which there are none.
func (f *mergeFn) CreateAccumulator() *relations.Meetings {
	return relations.NewMeetings(f.BaseRelations)
}

// AddInput adds the meetings of a shard.
func (f *mergeFn) AddInput(m, shard *relations.Meetings) (*relations.Meetings, error) {
	return m, m.Merge(shard)
}

// MergeAccumulators adds the meetings of b to a.
func (f *mergeFn) MergeAccumulators(a, b *relations.Meetings) (*relations.Meetings, error) {
	return a, a.Merge(b)
}

// writeFn writes the table of collected meetings.
type writeFn struct{ Params Params }

// ProcessElement receives the meetings of all entities and emits the URL of the table.
func (f *writeFn) ProcessElement(ctx context.Context, m *relations.Meetings, emit func(string)) error {
	return f.Params.write(ctx, m.Graph(), emit)
}
