package ultra_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tagnet/model/kernel"
	"tagnet/model/optimizer"
	"tagnet/model/propagation"
	"tagnet/model/relations"
	"tagnet/model/ultra"
	"tagnet/model/ultra/ultratest"
)

// BenchmarkQuery compares queries in the shared way with the same queries propagated in the plain way, by the same kernels on one
// core, without their scores: test queries drawn at random, one after the other in both ways. The times are those of the processor. The metric times is
// how many times faster the shared way is, without and with its share of what the queries of a base relation have in common.
func BenchmarkQuery(b *testing.B) {
	for _, folder := range []string{"wn18rr", "fb15k-237"} {
		b.Run(folder, func(b *testing.B) {
			d := read(b, folder, "test.txt")
			k, err := kernel.Named("")
			if err != nil {
				b.Fatal(err)
			}
			c := ultra.Configuration()
			scorer := scorer(b, ultratest.Drawn(1), d.graph, nil, k)
			w, weights := scorer.Worker(), propagation.NewWeights(d.graph, nil, c, false)
			if err := weights.Load(k, ultratest.Drawn(1)); err != nil {
				b.Fatal(err)
			}
			plain := propagation.New(d.graph, c, k)
			queries, byBase := d.queries(), map[int32][]query{}
			for _, q := range queries {
				byBase[q.base] = append(byBase[q.base], q)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			const each = 8 // queries of a base relation
			var bases, shared, plainly processor
			rng, relation := rand.New(rand.NewPCG(1, 2)), int32(0)
			for b.Loop() {
				if plainly.runs%each == 0 {
					relation = queries[rng.IntN(len(queries))].base // the more queries, the more often
					bases.measure(func() {
						release, err := scorer.Hold(b.Context(), relation, 1)
						if err != nil {
							b.Fatal(err)
						}
						release()
					})
				}
				q := byBase[relation][rng.IntN(len(byBase[relation]))]
				shared.measure(func() {
					scoresOf(b, w, d.graph, q.source, q.relation)
				})
				plainly.measure(func() {
					if err := plain.Forward(b.Context(), weights, propagation.Query{Source: q.source, Relation: q.relation}); err != nil {
						b.Fatal(err)
					}
				})
			}
			b.ReportMetric(bases.milliseconds(), "ms/base")
			b.ReportMetric(shared.milliseconds(), "ms/query")
			b.ReportMetric(plainly.milliseconds(), "ms/plain")
			b.ReportMetric(plainly.milliseconds()/shared.milliseconds(), "times")
			share := bases.milliseconds() * float64(len(byBase)) / float64(len(queries))
			b.ReportMetric((plainly.milliseconds()+share)/(shared.milliseconds()+share), "times/with-base")
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
			c := ultra.Configuration()
			c.StrictNegatives = false
			trainer, err := optimizer.New(g, relations.GraphOf(g), c, ultratest.Drawn(1), optimizer.NewSolver(c, g.RelationCount(), k), 1, k)
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
					batch[i] = optimizer.Example{Source: senders[at], Relation: relations[at], Answer: receiver, Key: rng.Uint64()}
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
			b.ReportMetric(float64(messages)/float64(steps.runs*len(batch))/float64(ultra.Layers*g.Edges()), "of-messages")
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
