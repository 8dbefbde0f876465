package propagation

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// farRows are the rows that layer 1 of the policy full updates although every message to them is zero: the rows of
// entities that are neither the source nor next to it. Except for dropout, their states after the layer depend on their
// degrees alone, so they are computed once for each run of rows of equal degree. That is exact, backward too: the
// gradients of equal states are added up before they are propagated. TransE has no far rows, as its message from a
// state of zero is not zero; nor has a reach with degree messages, which stand for edges from outside it.
type farRows struct {
	rows []int32 // ascending
	near []int32 // the other rows that layer 1 updates, ascending
	next []bool  // by row: the source, or next to it

	runs      []int32   // index in rows of each run's first row, then len(rows)
	degrees   []int32   // by run
	states    []float32 // by run, without dropout, [runs, dim]
	gradients []float32 // of states
}

// count returns the number of runs.
func (f *farRows) count() int { return len(f.degrees) }

// split finds the near and the far rows among those that the query needs after layer 1.
func (f *farRows) split(p *fullPolicy) {
	f.rows, f.near, f.runs, f.degrees = f.rows[:0], f.near[:0], f.runs[:0], f.degrees[:0]
	none := p.message == kernel.TransE || p.reach != nil && p.configuration.DegreeMessages
	f.next = parallel.Cleared(f.next, p.layout.Count())
	source := p.sourceRow()
	f.next[source] = true
	begin, end := p.layout.Senders.Range(source, 1) // as every edge has an inverse, these are the entities that the source sends to
	for _, row := range p.layout.Senders.Rows[begin:end] {
		f.next[row] = true
	}
	for _, row := range p.layout.All() {
		switch {
		case !p.needed.all && p.needed.masks[row]>>1&1 == 0:
		case none || f.next[row]:
			f.near = append(f.near, row)
		default:
			f.add(row, p.layout.Degrees[row])
		}
	}
	f.runs = append(f.runs, int32(len(f.rows)))
}

func (f *farRows) add(row, degree int32) {
	if last := len(f.degrees) - 1; last < 0 || f.degrees[last] != degree {
		f.runs, f.degrees = append(f.runs, int32(len(f.rows))), append(f.degrees, degree)
	}
	f.rows = append(f.rows, row)
}

// of returns the rows of a run.
func (f *farRows) of(run int) []int32 { return f.rows[f.runs[run]:f.runs[run+1]] }

// farGroup describes the update of all far rows, whose receivers hear nothing.
func (p *fullPolicy) farGroup() receiverGroup {
	group := receiverGroup{rows: p.far.rows, output: p.states.each[1], receivers: p.receivers(0)}
	group.receivers.DegreeMessage, group.receivers.Copies = nil, nil // their sets hold every message
	return group
}

// farUpdate describes the update of a row for each run.
func (p *fullPolicy) farUpdate() *receiverGroup {
	f, x := &p.far, &p.update
	*x = layerUpdate{groups: append(x.groups[:0], p.farGroup()), degrees: f.degrees, count: f.count(), keepsAll: true}
	x.groups[0].rows, x.groups[0].output = p.layout.All()[:f.count()], f.states // there are no more runs than rows
	return &x.groups[0]
}

// forwardFar computes the states of far rows after layer 1.
func (p *fullPolicy) forwardFar() {
	f, d := &p.far, p.configuration.Dim
	f.states = parallel.Resize(f.states, f.count()*d)
	p.farUpdate()
	p.run(&p.update)
	p.updated += int64(len(f.rows) - f.count())
	table := p.states.each[1]
	p.eachFar(func(run int, rows []int32, masks []uint32) {
		state := f.states[run*d : (run+1)*d]
		for i, row := range rows {
			out := table[int(row)*d : int(row+1)*d]
			if masks == nil {
				copy(out, state)
				continue
			}
			clear(out)
			p.addKept(out, state, masks[i*p.maskWords():])
		}
	})
}

// backwardFar propagates the gradients of far rows' states after layer 1 to its parameters.
func (p *fullPolicy) backwardFar(into *Gradients) {
	f, d := &p.far, p.configuration.Dim
	f.gradients = parallel.Cleared(f.gradients, f.count()*d)
	table := p.gradients.each[1]
	p.eachFar(func(run int, rows []int32, masks []uint32) {
		sum := f.gradients[run*d : (run+1)*d]
		for i, row := range rows {
			gradient := table[int(row)*d : int(row+1)*d]
			if masks == nil {
				p.kernel.Add(sum, gradient)
				continue
			}
			p.addKept(sum, gradient, masks[i*p.maskWords():])
		}
	})
	group := p.farUpdate()
	group.gradient = f.gradients
	group.setGradients(p.gradients.all, 0, into)
	p.runBackward(&p.update, &into.layers[0])
}

// eachFar calls visit with all far rows, at most chunkRows of a run at a time, and their dropout masks,
// or nil where nothing is dropped.
func (p *fullPolicy) eachFar(visit func(run int, rows []int32, masks []uint32)) {
	s := &p.scratch
	for run := range p.far.count() {
		for rows := p.far.of(run); len(rows) > 0; {
			n := min(len(rows), chunkRows)
			var masks []uint32
			if p.drops() {
				s.entities = parallel.Resize(s.entities, chunkRows)
				for i, row := range rows[:n] {
					s.entities[i] = p.entities()[row]
				}
				s.activations.masks = parallel.Resize(s.activations.masks, chunkRows*p.maskWords())
				masks = s.activations.masks[:n*p.maskWords()]
				p.kernel.DropoutMasks(masks, s.entities[:n], p.maskWords(), p.dropout.of(p.query.Seed, 0))
			}
			visit(run, rows[:n], masks)
			rows = rows[n:]
		}
	}
}

// addKept adds the entries of values that a dropout mask keeps, scaled, to sum.
func (p *fullPolicy) addKept(sum, values []float32, mask []uint32) {
	for j, value := range values {
		if mask[j/32]>>(j%32)&1 != 0 {
			sum[j] += float32(value * p.dropout.scale)
		}
	}
}
