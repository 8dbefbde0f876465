package answer

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer/explanation"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// panicking is a context that panics where its error is read.
type panicking struct{ context.Context }

func (panicking) Err() error { panic("read") }

// TestPanicOfExplanation has an explanation that panics: what it leaves in buffers explains nothing else.
func TestPanicOfExplanation(t *testing.T) {
	t.Parallel()
	g, err := graph.New(4, 1, []graph.Fact{{Head: 0, Tail: 1}, {Head: 1, Tail: 2}, {Head: 2, Tail: 3}})
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Dim = 2, 8
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Graph: g, Configuration: c, Parameters: parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1),
		Resources: Resources{Kernel: k, Threads: 1}}
	explain := func(ctx context.Context) (explanation.Explanation, error) {
		return m.Explain(ctx, graph.Query{Answer: graph.None}, 2, 3, false)
	}
	want, err := explain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a context that panics: no panic")
			}
		}()
		_, _ = explain(panicking{t.Context()})
	}()
	err = m.pool.use(t.Context(), func(th *thread) error {
		if th.explain != nil {
			t.Error("what explained is kept after a panic")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := explain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a panic (-before +after):\n%s", diff)
	}
}
