package gpu

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/weights/configuration"
)

// TestLinks checks the order of edges, and that links are of inverse edges, by a graph with loops and parallel edges.
func TestLinks(t *testing.T) {
	t.Parallel()
	g := scenarios(t)[0].graph
	senders, relations := byRelation(g)
	links, begin := linksOf(g, g.Inverse)
	var slots []int32
	for o := range int32(g.Entities) {
		for edge := g.Offsets[o]; edge < g.Offsets[o+1]; edge++ {
			l := links[edge]
			if edge > g.Offsets[o] && !(relations[edge-1] < relations[edge] || relations[edge-1] == relations[edge] && senders[edge-1] < senders[edge]) {
				t.Fatalf("edges %d and %d of entity %d are not in order", edge-1, edge, o)
			}
			back := int64(l.Reverse)
			if l.Sender != senders[edge] || l.Inverse != g.Inverse(relations[edge]) || back < g.Offsets[l.Sender] || back >= g.Offsets[l.Sender+1] ||
				senders[back] != o || relations[back] != l.Inverse || l.Slot < begin[l.Inverse] || l.Slot >= begin[l.Inverse+1] {
				t.Fatalf("edge %d (%d, %d, %d) has link %+v", edge, senders[edge], relations[edge], o, l)
			}
			slots = append(slots, l.Slot)
		}
	}
	if slices.Sort(slots); slots[0] != 0 || len(slices.Compact(slots)) != int(g.Edges()) {
		t.Errorf("slots are not the numbers 0 to %d", g.Edges()-1)
	}
}

// TestKeeper trains, scores and trains on the same graph, then on another one: what depends on a graph is placed once, and the weights and
// answers have the bits of devices that keep nothing.
func TestKeeper(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	kept := NewKeeper(interpreter.New())
	var at [2]device.Pointer
	for i := range at {
		var results [2]any
		for j, d := range []device.Device{kept, interpreter.New()} {
			p := s.parameters()
			trainer, err := NewTrainer(d, s.graph, nil, s.configuration, p, s.solver())
			if err != nil {
				t.Fatal(err)
			}
			if d == kept {
				at[i] = trainer.batch.Links
			}
			_, stepping := trainer.Step(s.examples, 3)
			if err := errors.Join(stepping, trainer.Store(), trainer.Close()); err != nil {
				t.Fatal(err)
			}
			scorer, err := NewScorer(d, s.graph, nil, s.configuration, p)
			if err != nil {
				t.Fatal(err)
			}
			answers, err := scorer.Score(t.Context(), s.queries()[:5], ranking.Selection{K: 3})
			if err := errors.Join(err, scorer.Close()); err != nil {
				t.Fatal(err)
			}
			results[j] = answers
		}
		if !reflect.DeepEqual(results[0], results[1]) {
			t.Error("other answers where the graph is kept")
		}
	}
	if at[0] != at[1] {
		t.Errorf("links are at %#x, then at %#x", at[0], at[1])
	}
	other := smallScenario(t, nil)
	trainer, err := NewTrainer(kept, other.graph, nil, other.configuration, other.parameters(), other.solver())
	if err != nil {
		t.Fatal(err)
	}
	if trainer.batch.Links == at[0] || len(kept.parts) != 4 {
		t.Errorf("%d parts of two graphs, with links at %#x", len(kept.parts), trainer.batch.Links)
	}
	if err := trainer.Close(); err != nil {
		t.Fatal(err)
	}
	other, trainer = scenario{}, nil
	runtime.GC()
	if err := kept.drop(func(key partKey) bool { return key.graph.Value() == nil }); err != nil || len(kept.parts) != 2 {
		t.Errorf("%d parts, %v, once a graph is gone; want 2", len(kept.parts), err)
	}
	runtime.KeepAlive(s)
}

// TestKeptMemoryIsFree checks that scoring has all the memory that it would have on a device that keeps nothing.
func TestKeptMemoryIsFree(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, func(c *configuration.Configuration) { c.BatchSize = 1 })
	capacities := map[int]bool{}
	for memory := int64(4 << 20); memory > 1<<10; memory = memory * 2 / 3 {
		kept, plain := NewKeeper(interpreter.New(interpreter.Memory(memory))), interpreter.New(interpreter.Memory(memory))
		links, err := kept.take(s.graph, s.graph.Inverse, true)
		if err != nil {
			break
		}
		links.users--
		want, wantErr := NewScorer(plain, s.graph, nil, s.configuration, s.parameters())
		got, err := NewScorer(kept, s.graph, nil, s.configuration, s.parameters())
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("with %d bytes: %v, want %v", memory, err, wantErr)
		}
		if err != nil {
			break
		}
		if got.capacity != want.capacity {
			t.Errorf("with %d bytes %d queries together, want %d", memory, got.capacity, want.capacity)
		}
		capacities[got.capacity] = true
		if _, err := kept.Allocate(kept.Properties().Free); err != nil || len(kept.parts) != 1 {
			t.Errorf("with %d bytes: all that is free cannot be allocated: %v; %d parts are left, want that of the scorer", memory, err, len(kept.parts))
		}
	}
	if len(capacities) < 4 {
		t.Errorf("capacities %v, want more", capacities)
	}
}

// TestFailuresLetGo fails each allocation and copy of a trainer in turn: what was placed of the graph is not used any more.
func TestFailuresLetGo(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, nil)
	whole := interpreter.New()
	if _, err := NewTrainer(whole, s.graph, nil, s.configuration, s.parameters(), s.solver()); err != nil {
		t.Fatal(err)
	}
	used := whole.Properties().Memory - whole.Properties().Free
	for memory := used - 1; memory > 0; memory /= 3 {
		d := interpreter.New(interpreter.Memory(memory))
		k := NewKeeper(d)
		if _, err := NewTrainer(k, s.graph, nil, s.configuration, s.parameters(), s.solver()); !errors.Is(err, device.ErrMemory) {
			t.Fatalf("with %d of %d bytes: %v", memory, used, err)
		}
		if free := k.Properties().Free; free != d.Properties().Memory {
			t.Errorf("with %d bytes %d are free after a trainer that did not fit", memory, free)
		}
	}
}
