package mirror

// mapSize is the number of parameters of a linear map, its weight and its bias.
func (p *Batch) mapSize() int { return p.Dim*p.Dim + p.Dim }

// apply returns a linear map of x, which adds to the bias in the order of x.
func (p *Batch) apply(parameters, x []float32) []float32 {
	y := append([]float32(nil), parameters[p.Dim*p.Dim:][:p.Dim]...)
	for o := range y {
		for k, v := range x {
			y[o] = fma(v, parameters[o*p.Dim+k], y[o])
		}
	}
	return y
}

// applyTransposed adds to y the product of the transposed weight and g.
func (p *Batch) applyTransposed(weight, g, y []float32) {
	for o := range y {
		for k, v := range g {
			y[o] = fma(v, weight[k*p.Dim+o], y[o])
		}
	}
}

// tableRow is a row of a layer's table, for a base relation whose states queries share.
type tableRow struct{ base, t, relation int }

// eachTableRow calls do for the rows of the tables of a number of bases, with the index of the row's first value in arrays of
// these rows.
func (p *Batch) eachTableRow(bases int, do func(row tableRow, at int)) {
	for base := range bases {
		for t := range p.Layers {
			for r := range p.RelationCount {
				do(tableRow{base, t, r}, ((base*p.Layers+t)*p.RelationCount+r)*p.Dim)
			}
		}
	}
}

// stateOf returns the row of a relation of a base among states.
func (p *Batch) stateOf(states []float32, base, relation int) []float32 {
	return states[(base*p.RelationCount+relation)*p.Dim:][:p.Dim]
}

// projection returns the parameters of the maps of layer t, from 0.
func (p *Batch) projection(t int) []float32 { return p.Parameters[t*p.LayerSize+p.RelationAt:] }

// Project sets the tables of the slots of bases from the final states of a propagation between relations, and copies the states. It keeps
// what is between the maps, unless projected is nil.
func (p *Batch) Project(bases int, states []float32, slots []int32, embeddings, projected []float32) {
	p.eachTableRow(bases, func(row tableRow, at int) {
		slot, inverse := int(slots[row.base]), int(p.inverse(int32(row.relation)))
		state, maps := p.stateOf(states, row.base, inverse), p.projection(row.t)
		copy(p.stateOf(embeddings, slot, inverse), state)
		hidden := p.apply(maps, state)
		for j := range hidden {
			hidden[j] = relu(hidden[j])
		}
		if projected != nil {
			copy(projected[at:], hidden)
		}
		copy(p.Dependent[((slot*p.Layers+row.t)*p.RelationCount+row.relation)*p.Dim:], p.apply(maps[p.mapSize():], hidden))
	})
}

// ProjectBackward sets the gradients of tables, the sums over the queries, and of what is between the maps.
func (p *Batch) ProjectBackward(bases int, projected, byTable, byHidden []float32) {
	p.eachTableRow(bases, func(row tableRow, at int) {
		g, h := byTable[at:][:p.Dim], byHidden[at:][:p.Dim]
		clear(g)
		clear(h)
		for b, q := range p.Queries[:p.Batch] {
			for j := 0; j < p.Dim && int(q.Table) == row.base; j++ {
				g[j] += p.relationGradient(b, row.t+1, row.relation*p.Dim+j)
			}
		}
		p.applyTransposed(p.projection(row.t)[p.mapSize():], g, h)
		for j := range h {
			h[j] = chosen(projected[at+j] > 0, h[j])
		}
	})
}

// ProjectStates sets the gradients of the final states, through the first maps of all layers and as queries' embeddings.
func (p *Batch) ProjectStates(bases int, byHidden, gradients []float32) {
	for base := range bases {
		for r := range p.RelationCount {
			y := p.stateOf(gradients, base, r)
			clear(y)
			for t := range p.Layers {
				p.applyTransposed(p.projection(t), p.stateOf(byHidden, base*p.Layers+t, int(p.inverse(int32(r)))), y)
			}
			for b, q := range p.Queries[:p.Batch] {
				for j := 0; j < p.Dim && int(q.Table) == base && int(q.Relation) == r; j++ {
					y[j] += p.QueryGradients[b*p.Dim+j]
				}
			}
		}
	}
}

// pieceRows is the number of rows of a partial sum of the maps' gradients.
const pieceRows = 256

// ProjectWeights sets partial sums of the maps' gradients.
func (p *Batch) ProjectWeights(bases int, states, projected, byTable, byHidden, partial []float32) {
	d, size := p.Dim, p.mapSize()
	clear(partial[:blocks(bases*p.RelationCount, pieceRows)*2*p.Layers*size])
	p.eachTableRow(bases, func(row tableRow, at int) {
		out := partial[((row.base*p.RelationCount+row.relation)/pieceRows*p.Layers+row.t)*2*size:]
		p.addOuter(out, byHidden[at:][:d], p.stateOf(states, row.base, int(p.inverse(int32(row.relation)))))
		p.addOuter(out[size:], byTable[at:][:d], projected[at:][:d])
	})
}

// addOuter adds to the gradients of a linear map those of an input, given the gradient of the output.
func (p *Batch) addOuter(to, gradient, x []float32) {
	for o, g := range gradient {
		for k, v := range x {
			to[o*p.Dim+k] = fma(v, g, to[o*p.Dim+k])
		}
		to[p.Dim*p.Dim+o] += g
	}
}

// ProjectSum sets the maps' gradients to the sums of a number of pieces.
func (p *Batch) ProjectSum(pieces int, partial []float32) {
	size := 2 * p.mapSize()
	for i := range p.Layers * size {
		sum := float32(0)
		for piece := range pieces {
			sum += partial[piece*p.Layers*size+i]
		}
		put(&p.gradientsOf(1 + i/size)[p.RelationAt+i%size], sum, p.Accumulate)
	}
}
