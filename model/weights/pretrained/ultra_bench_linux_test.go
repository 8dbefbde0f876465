package pretrained_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/pretrained"
	"tagnet/model/weights/weightstest"
)

// BenchmarkQuery answers test queries drawn at random on one core. The time of a query is that of the processor, without its relation's
// states.
func BenchmarkQuery(b *testing.B) {
	for _, folder := range []string{"wn18rr", "fb15k-237"} {
		b.Run(folder, func(b *testing.B) {
			d := read(b, folder, "test.txt")
			k, err := kernel.Named("")
			if err != nil {
				b.Fatal(err)
			}
			w := scorer(b, weightstest.Drawn(1), d.graph, nil, k).Worker()
			queries := d.queries()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rng, relation := rand.New(rand.NewPCG(1, 2)), queries[0].relation
			scoresOf(b, w, d.graph, queries[0].source, relation)
			var answered processor
			for b.Loop() {
				source := queries[rng.IntN(len(queries))].source
				answered.measure(func() { scoresOf(b, w, d.graph, source, relation) })
			}
			b.ReportMetric(answered.milliseconds(), "ms/query")
		})
	}
}

// BenchmarkTraining makes steps of 16 training queries on one core. The time of a query is that of the processor.
func BenchmarkTraining(b *testing.B) {
	for _, folder := range []string{"wn18rr", "fb15k-237"} {
		b.Run(folder, func(b *testing.B) {
			g := read(b, folder, "test.txt").graph
			k, err := kernel.Named("")
			if err != nil {
				b.Fatal(err)
			}
			c := pretrained.ULTRAConfiguration()
			c.StrictNegatives = false
			trainer, err := optimizer.New(g, relations.GraphOf(g), c, weightstest.Drawn(1), optimizer.NewSolver(c, g.RelationCount(), k), 1, k)
			if err != nil {
				b.Fatal(err)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rng, batch := rand.New(rand.NewPCG(1, 2)), make([]optimizer.Example, 16)
			var steps processor
			messages := int64(0)
			for b.Loop() {
				for i := range batch {
					receiver := int32(rng.IntN(g.Entities))
					for g.Degree(receiver) == 0 {
						receiver = int32(rng.IntN(g.Entities))
					}
					senders, relations := g.In(receiver)
					at := rng.IntN(len(senders))
					batch[i] = optimizer.Example{Query: graph.Query{Source: senders[at], Relation: relations[at], Answer: receiver}, Key: rng.Uint64()}
				}
				steps.measure(func() {
					result, err := trainer.Step(batch, 1)
					if err != nil {
						b.Fatal(err)
					}
					messages += result.Messages
				})
			}
			b.ReportMetric(steps.milliseconds()/float64(len(batch)), "ms/query")
			b.ReportMetric(float64(messages)/float64(steps.runs*len(batch))/float64(pretrained.ULTRALayers*g.Edges()), "of-messages")
		})
	}
}

// processor adds up the time that the thread's processor takes.
type processor struct {
	total time.Duration
	runs  int
}

func (p *processor) measure(do func()) {
	begin := now()
	do()
	p.total += now() - begin
	p.runs++
}

func (p *processor) milliseconds() float64 {
	return p.total.Seconds() * 1000 / float64(p.runs)
}

func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
