package head

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
)

// machine runs the operations of a graph one after another, in the goroutine that asks for
// it. Gorgonia's tape machine runs them in another goroutine while it holds the thread of the
// one that asks; the two changes of thread leave processors idle, a fourth of their time
// where two train on a small graph.
type machine struct {
	steps  []step
	values []gorgonia.Value // by place; inputs and constants are there from the start
	result int              // the place of what a run is for
}

// step is an operation with the places of what it reads and writes.
type step struct {
	operation gorgonia.Op
	from      []int
	inputs    []gorgonia.Value
	to        int
}

// newMachine takes a finished graph, whose inputs have their values, and the node of it that
// a run is for.
func newMachine(g *gorgonia.ExprGraph, result *gorgonia.Node) (*machine, error) {
	nodes, err := gorgonia.Sort(g)
	if err != nil {
		return nil, fmt.Errorf("ordering the operations: %w", err)
	}
	slices.Reverse(nodes) // Gorgonia puts what is read after what reads it
	m := &machine{values: make([]gorgonia.Value, len(nodes))}
	places := map[int64]int{}
	for place, node := range nodes {
		places[node.ID()] = place
		if m.values[place] = node.Value(); m.values[place] != nil {
			continue
		}
		s := step{operation: node.Op(), to: place}
		for children := g.From(node.ID()); children.Next(); {
			s.from = append(s.from, places[children.Node().ID()])
		}
		s.inputs = make([]gorgonia.Value, len(s.from))
		m.steps = append(m.steps, s)
	}
	m.result = places[result.ID()]
	return m, nil
}

// run does every operation once, and returns the result's value.
func (m *machine) run() (gorgonia.Value, error) {
	for i := range m.steps {
		s := &m.steps[i]
		for j, place := range s.from {
			s.inputs[j] = m.values[place]
		}
		value, err := s.operation.Do(s.inputs...)
		if err != nil {
			return nil, err
		}
		m.values[s.to] = value
	}
	return m.values[m.result], nil
}
