package mirror

// fold returns a weight of a linear map for rows of a degree, from those under the scalers 1, c and 1 / c, which lie a number of weights
// apart. There is one if the reduction has no scalers.
func (p *Batch) fold(weights []float32, apart int, scale Scale) float32 {
	if p.Columns == p.Dim {
		return weights[0]
	}
	return fma(weights[2*apart], scale.Down, fma(weights[apart], scale.Up, weights[0]))
}

// linear returns the output of layer t's linear map for the features of a row: a sum over the features in order.
func (p *Batch) linear(t, i int) []float32 {
	maps, scale := p.Maps[(t-1)*p.Width*p.Columns:], p.Scales[p.RowDegree[i]]
	y := make([]float32, p.Dim)
	for f, x := range p.features(t, i) {
		for j := range y {
			y[j] = fma(x, p.fold(maps[f*p.Columns+j:], p.Dim, scale), y[j])
		}
	}
	for j := range y {
		if p.Bias {
			y[j] += p.layer(t)[p.LinearBiasAt+j]
		}
	}
	return y
}

// Update sets the states of layer t: the linear map, layer norm, ReLU, dropout and the residual.
func (p *Batch) Update(t int) {
	layer, share := p.layer(t), 1/float32(p.Live)
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		row, y := p.Rows[i], p.linear(t, i)
		mean := float32(sumDims(y) * share)
		for j := range y {
			y[j] -= mean
		}
		clear(y[p.Live:])
		deviation := 1 / root(float32(dotDims(y, y)*share)+1e-5)
		state := p.state(t-int(row.Distance), int(row.Query), row.Entity)
		for j, before := range p.features(t, i)[:p.Dim] {
			y[j] = float32(y[j] * deviation)
			z := y[j]
			if p.Bias {
				z = fma(z, layer[p.ScaleAt+j], layer[p.ShiftAt+j])
			}
			z = relu(z)
			if p.Training {
				z = float32(z * p.KeepScale)
				if !p.kept(i, j) {
					z = 0
				}
			}
			state[j] = before + z
		}
		if p.Training {
			copy(p.Normalized[i*p.Dim:], y)
			p.Deviations[i] = deviation
		}
	}
}

// StartStates sets the states of age 0 of the sources to the queries' embeddings.
func (p *Batch) StartStates() {
	for b, q := range p.Queries[:p.Batch] {
		copy(p.state(0, b, q.Source), p.queryEmbedding(b))
	}
}
