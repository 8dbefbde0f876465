package train

import (
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/learn"
)

func init() {
	beam.RegisterType(reflect.TypeFor[Shard]())
	beam.RegisterType(reflect.TypeFor[shards]())
	beam.RegisterDoFn(&dealFn{})
	beam.RegisterDoFn(&shardFn{})
	beam.RegisterType(reflect.TypeFor[averageFn]())
	beam.RegisterDoFn(&finishFn{})
	beam.RegisterDoFn(&beginFn{})
}

// Rounds trains one model by several workers: the learn.Tasks, one after the other. A round is a
// Reshuffle of its shards, a ParDo that trains each of them, and a CombineFn that averages them. Elements
// are numbers: weights and moments pass through the checkpoints of a shared folder, since Beam's
// runners are slow with elements of some megabytes. It returns PCollection<int64>, when the last task
// ended, in nanoseconds since 1970.
//
// The checkpoints depend on the number of workers and of local steps, and neither on the runner nor on
// how many of its processes take the shards. Every function may run again, also when the training is
// farther already: it takes what it finds. So a worker that is killed costs the shard that it trained.
func Rounds(s beam.Scope, p Params, tasks []learn.Task) beam.PCollection {
	s = s.Scope("train.Rounds")
	done := beam.ParDo(s, &beginFn{Begun: time.Now().UnixNano()}, beam.Impulse(s))
	for _, t := range tasks {
		if t.EndsEpoch() {
			done = beam.ParDo(s, &finishFn{Params: p, Task: t}, done)
			continue
		}
		dealt := beam.Reshuffle(s, beam.ParDo(s, &dealFn{Workers: t.Round.Workers}, done))
		trained := beam.ParDo(s, &shardFn{Params: p, Task: t}, dealt)
		done = beam.Combine(s, &averageFn{Params: p, Task: t}, trained)
	}
	return done
}

// beginFn emits when the pipeline was built, so that the time of an epoch includes the start of jobs.
type beginFn struct{ Begun int64 }

func (f *beginFn) ProcessElement(_ []byte, emit func(int64)) { emit(f.Begun) }
