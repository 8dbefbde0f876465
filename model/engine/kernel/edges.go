package kernel

import "tagnet/model/parallel"

// EdgeAggregator computes gradients of aggregation for explanations. It tells how much each message carries, and where
// several members of a set attain the maximum or minimum it shares its gradient evenly among them, so that the order of
// edges decides nothing. The zero value is ready to use; it is not for concurrent use.
type EdgeAggregator struct {
	level, slope         []float32 // a member m has the gradient level + slope m, ..
	byMaximum, byMinimum []float32 // .. and these where it attains an extreme
	extremes             bool      // whether the reduction has extremes
	maximum, minimum     []float32
	tiesMax, tiesMin     []float32 // number of members that attain them
	messages             []float32 // of the receiver, [senders, dim]
	gradient             []float32 // of one message
}

// Backward propagates the gradient of the features of r's receivers to the states in g, and to Previous where it is not
// nil; the gradients of embeddings are not computed. features is what Aggregate wrote. It calls visit for each message
// with the receiver's row, the index of the sender in r.Senders, and the derivative of the loss by a factor of the
// message. r has one lane.
func (a *EdgeAggregator) Backward(r *Receivers, features, gradient []float32, g *Gradients, visit func(row, sender int32, value float32)) {
	d, width := r.Dim, r.Width()
	a.resize(d)
	for i, at := range r.FeatureRows {
		row := r.Rows[i]
		rowGradient := gradient[int(at)*width:][:width]
		if g.Previous != nil {
			add(g.Previous[int(row)*d:int(row+1)*d], rowGradient[:d])
		}
		a.start(r, row, features[int(at)*width:][:width], rowGradient)
		a.scatter(r, row, g.States, visit)
	}
}

func (a *EdgeAggregator) resize(dim int) {
	for _, s := range []*[]float32{&a.level, &a.slope, &a.byMaximum, &a.byMinimum, &a.maximum, &a.minimum, &a.tiesMax, &a.tiesMin, &a.gradient} {
		*s = parallel.Resize(*s, dim)
	}
}

// start computes the messages of a receiver and the terms of its members' gradients.
func (a *EdgeAggregator) start(r *Receivers, row int32, features, gradient []float32) {
	d := r.Dim
	begin, end := r.Senders.Range(row, r.Kinds)
	a.messages = parallel.Resize(a.messages, int(end-begin)*d)
	for e := begin; e < end; e++ {
		u, w := (r.StateOffset+int(r.Senders.Rows[e]))*d, int(r.Senders.Relations[e])*d
		r.Message.Compute(a.messages[int(e-begin)*d:int(e-begin+1)*d], r.States[u:u+d], r.RelationEmbeddings[w:w+d])
	}
	clear(a.level)
	clear(a.slope)
	clear(a.byMaximum)
	clear(a.byMinimum)
	// A member m has the gradient level + slope m, plus the gradients of extremes that it attains.
	a.extremes = false
	switch r.Reduction {
	case Sum:
		copy(a.level, gradient[d:2*d])
	case Mean:
		for j, value := range gradient[d : 2*d] {
			a.level[j] = value * r.MeanFactor[row]
		}
	case Max:
		copy(a.byMaximum, gradient[d:2*d])
		a.findExtremes(r, row)
	case PNA:
		for j := range d {
			a.level[j], a.slope[j] = levelAndSlope(features[d+j], gradient[d+j], features[4*d+j], gradient[4*d+j], r.MeanFactor[row])
		}
		copy(a.byMaximum, gradient[2*d:3*d])
		copy(a.byMinimum, gradient[3*d:4*d])
		a.findExtremes(r, row)
	}
}

// findExtremes finds the extremes of a receiver's set and divides their gradients by the number of
// members that attain them.
func (a *EdgeAggregator) findExtremes(r *Receivers, row int32) {
	d := r.Dim
	a.extremes = true
	if r.Initial == nil {
		clear(a.maximum)
		clear(a.minimum)
	} else {
		copy(a.maximum, r.Initial)
		copy(a.minimum, r.Initial)
	}
	// The members are the degree message, the messages and, below, the boundary and zeros of empty messages.
	each := func(visit func(member []float32)) {
		if r.DegreeMessage != nil && r.Copies[row] > 0 {
			visit(r.DegreeMessage)
		}
		for m := 0; m < len(a.messages); m += d {
			visit(a.messages[m : m+d])
		}
	}
	each(func(member []float32) {
		for j, m := range member {
			a.maximum[j], a.minimum[j] = max(a.maximum[j], m), min(a.minimum[j], m)
		}
	})
	if r.Initial != nil && r.EmptyMessages {
		for j := range d {
			a.maximum[j], a.minimum[j] = max(a.maximum[j], 0), min(a.minimum[j], 0)
		}
	}
	// Count the members that attain an extreme.
	clear(a.tiesMax)
	clear(a.tiesMin)
	count := func(member []float32) {
		for j, m := range member {
			if m == a.maximum[j] {
				a.tiesMax[j]++
			}
			if m == a.minimum[j] {
				a.tiesMin[j]++
			}
		}
	}
	each(count)
	for j := range d {
		initial := float32(0)
		if r.Initial != nil {
			initial = r.Initial[j]
		}
		if initial == a.maximum[j] {
			a.tiesMax[j]++
		}
		if initial == a.minimum[j] {
			a.tiesMin[j]++
		}
		// A zero that only empty messages attain has no other member.
		a.byMaximum[j] /= max(a.tiesMax[j], 1)
		a.byMinimum[j] /= max(a.tiesMin[j], 1)
	}
}

// scatter propagates the gradients of a receiver's messages to its senders' states.
func (a *EdgeAggregator) scatter(r *Receivers, row int32, states []float32, visit func(row, sender int32, value float32)) {
	d := r.Dim
	begin, end := r.Senders.Range(row, r.Kinds)
	for e := begin; e < end; e++ {
		message := a.messages[int(e-begin)*d:][:d]
		value := float32(0)
		for j, m := range message {
			gradient := a.level[j] + a.slope[j]*m
			if a.extremes {
				if m == a.maximum[j] {
					gradient += a.byMaximum[j]
				}
				if m == a.minimum[j] {
					gradient += a.byMinimum[j]
				}
			}
			a.gradient[j] = gradient
			value += gradient * m
		}
		u, w := (r.StateOffset+int(r.Senders.Rows[e]))*d, int(r.Senders.Relations[e])*d
		r.Message.stateGradient(a.gradient, r.RelationEmbeddings[w:w+d], states[u:u+d])
		visit(row, e, value)
	}
}

// stateGradient adds to the gradient of a message's state, as Message.Backward.
func (m Message) stateGradient(gradient, w, gx []float32) {
	d := len(gradient)
	w, gx = w[:d], gx[:d]
	switch m {
	case DistMult:
		for j, g := range gradient {
			gx[j] += g * w[j]
		}
	case TransE:
		add(gx, gradient)
	case RotatE:
		half := d / 2
		for j := range half {
			re, im := gradient[j], gradient[half+j]
			c, e := w[j], w[half+j]
			gx[j] += re*c + im*e
			gx[half+j] += im*c - re*e
		}
	}
}
