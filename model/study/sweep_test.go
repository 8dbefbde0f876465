package study

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/graph"
)

func TestSweep(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	facts := make([]graph.Fact, 400)
	for i := range facts {
		facts[i] = graph.Fact{Head: random.Int32N(300), Tail: random.Int32N(300)}
	}
	g, err := graph.New(300, 1, facts)
	if err != nil {
		t.Fatal(err)
	}
	sources := make([]int32, 300)
	for i := range sources {
		sources[i] = int32(299 - i)
	}
	searcher, want := graph.NewSearcher(g), make([]uint8, 300)
	sweep := func(ctx context.Context, sources []int32, each func(source int32, packed []byte) error) error {
		gather := Gather{Distances: true, Levels: true}
		return Sweep(ctx, SweepParams{Graph: g, Sources: sources, Hops: 5, Gather: gather}, func(r *Result) ([]byte, error) {
			if want := CountLevels(g, r.Distances(), 5); r.Levels != want {
				t.Errorf("source %d has levels %+v, want %+v", r.Source, r.Levels, want)
			}
			return pack(r.Distances()), nil
		}, each)
	}
	next := 0
	err = sweep(t.Context(), sources, func(source int32, packed []byte) error {
		if source != sources[next] {
			t.Fatalf("source %d comes as number %d", source, next)
		}
		next++
		searcher.Search(source, 5, graph.Query{}, want)
		if !slices.Equal(packed, pack(want)) {
			t.Fatalf("source %d has wrong distances", source)
		}
		return nil
	})
	if err != nil || next != 300 {
		t.Fatalf("%d sources, %v", next, err)
	}

	stop := errors.New("stop")
	err = sweep(t.Context(), sources, func(source int32, _ []byte) error {
		if source < 100 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("the error of each is %v", err)
	}
	every := SweepParams{Graph: g, Sources: sources, Hops: 5}
	err = Sweep(t.Context(), every, func(*Result) (int, error) { return 0, stop }, func(int32, int) error { return nil })
	if !errors.Is(err, stop) {
		t.Errorf("the error of work is %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sweep(canceled, sources, func(int32, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a canceled sweep is %v", err)
	}
	if err := sweep(t.Context(), []int32{300}, func(int32, []byte) error { return nil }); err == nil {
		t.Error("a source that does not exist is searched")
	}
	if err := sweep(t.Context(), nil, func(int32, []byte) error { return stop }); err != nil {
		t.Errorf("no sources: %v", err)
	}
	t.Setenv("TAGNET_KERNEL", "sse9")
	if err := sweep(t.Context(), sources, func(int32, []byte) error { return nil }); err == nil {
		t.Error("a variant that does not exist searches")
	}
}
