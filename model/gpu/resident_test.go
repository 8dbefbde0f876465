package gpu

import (
	"errors"
	"slices"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/gpu/interpreter"
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

// TestFailuresLetGo fails allocations of a trainer: what was placed before is given back.
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
		if _, err := NewTrainer(d, s.graph, nil, s.configuration, s.parameters(), s.solver()); !errors.Is(err, device.ErrMemory) {
			t.Fatalf("with %d of %d bytes: %v", memory, used, err)
		}
		if free := d.Properties().Free; free != memory {
			t.Errorf("with %d bytes %d are free after a trainer that did not fit", memory, free)
		}
	}
}
