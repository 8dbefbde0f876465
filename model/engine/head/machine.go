package head

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
)

// machine runs the operations of a graph one after another, in the caller's goroutine. Gorgonia's tape
// machine runs them in another goroutine and blocks the caller's thread; with two workers on a small
// graph, switching threads left the processors idle for a quarter of the time.
type machine struct {
	steps  []step
	values []gorgonia.Value // of all nodes; inputs and constants never change
	result int              // index of the result in values
}

// step is an operation with the indices of the values that it reads and writes.
type step struct {
	operation gorgonia.Op
	from      []int
	inputs    []gorgonia.Value
	to        int
}

// newMachine returns a machine for a complete graph, whose inputs have values, and the node of the result.
func newMachine(g *gorgonia.ExprGraph, result *gorgonia.Node) (*machine, error) {
	nodes, err := gorgonia.Sort(g)
	if err != nil {
		return nil, fmt.Errorf("ordering the operations: %w", err)
	}
	slices.Reverse(nodes) // Gorgonia's order has an operation before its inputs
	m := &machine{values: make([]gorgonia.Value, len(nodes))}
	indices := map[int64]int{}
	for i, node := range nodes {
		indices[node.ID()] = i
		if m.values[i] = node.Value(); m.values[i] != nil {
			continue
		}
		s := step{operation: node.Op(), to: i}
		for children := g.From(node.ID()); children.Next(); {
			s.from = append(s.from, indices[children.Node().ID()])
		}
		s.inputs = make([]gorgonia.Value, len(s.from))
		m.steps = append(m.steps, s)
	}
	m.result = indices[result.ID()]
	return m, nil
}

// run runs every operation once and returns the value of the result.
func (m *machine) run() (gorgonia.Value, error) {
	for i := range m.steps {
		s := &m.steps[i]
		for j, from := range s.from {
			s.inputs[j] = m.values[from]
		}
		value, err := s.operation.Do(s.inputs...)
		if err != nil {
			return nil, err
		}
		m.values[s.to] = value
	}
	return m.values[m.result], nil
}
