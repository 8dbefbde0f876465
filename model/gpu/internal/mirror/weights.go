package mirror

// SetFeatureGradients sets the gradients of a layer's features, and what determines those of its messages.
func (p *Batch) SetFeatureGradients(t int) {
	transposed := p.Transposed[(t-1)*p.Width*p.Columns:]
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		out := p.featureGradients(i - p.firstRow(t))
		clear(out)
		for o, g := range p.Linear[i*p.Dim:][:p.Dim] {
			for f := range out {
				out[f] = fma(g, p.fold(transposed[o*p.Width+f:], p.Dim*p.Width, p.Scales[p.RowDegree[i]]), out[f])
			}
		}
		p.setTerms(i, t)
	}
}

// featureGradients returns the gradients of the features of a row, by its number in its layer.
func (p *Batch) featureGradients(number int) []float32 {
	return p.FeatureGradients[number*p.Width:][:p.Width]
}

// WeightPartial sets the gradients of a layer's folded weights, by span: features of rows times the gradients of their outputs.
func (p *Batch) WeightPartial(t int) {
	size := p.Width * p.Dim
	for i, span := range p.spans(t) {
		out := p.Partial[i*size:][:size]
		clear(out)
		p.SpanScales[i] = Scale{}
		for j, number := range p.strip(t, int(span.Strip))[:span.Rows] {
			if number == 0 { // an end that the layer does not update
				continue
			}
			row := p.firstRow(t) + int(number) - 1
			if j == 0 { // as those of the others, if it matters
				p.SpanScales[i] = p.Scales[p.RowDegree[row]]
			}
			for f, x := range p.features(t, row) {
				for o, g := range p.Linear[row*p.Dim:][:p.Dim] {
					out[f*p.Dim+o] = fma(x, g, out[f*p.Dim+o])
				}
			}
		}
	}
}

// WeightSum sets the weights' gradients, in the stored order: sums over the spans, times their scalers. Each of 8 warps adds every eighth
// span.
func (p *Batch) WeightSum(t int) {
	for f := range p.Width {
		for o := range p.Dim {
			var sums [3][8]float32
			for i := range p.spans(t) {
				x, scale := p.Partial[(i*p.Width+f)*p.Dim+o], p.SpanScales[i]
				sums[0][i%8] += x
				sums[1][i%8] = fma(x, scale.Up, sums[1][i%8])
				sums[2][i%8] = fma(x, scale.Down, sums[2][i%8])
			}
			for s, warps := range sums {
				at := p.stored(f, s)
				if at < 0 {
					continue
				}
				sum := warps[0]
				for _, x := range warps[1:] {
					sum += x
				}
				put(&p.gradientsOf(t)[p.LinearAt+o*p.storedColumns()+at], sum, p.Accumulate)
			}
		}
	}
}

// vectors is the number of a layer's vectors: bias, scale, shift and degree message.
const vectors = 4

// VectorPartial sets partial sums of the gradients of a layer's vectors.
func (p *Batch) VectorPartial(t int) {
	d := p.Dim
	clear(p.Partial[:p.Parts*vectors*d])
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		out := p.Partial[(i-p.firstRow(t))%p.Parts*vectors*d:]
		for j := range d {
			if p.Bias {
				a := p.Affine[i*d+j]
				out[j] += p.Linear[i*d+j]
				out[d+j] = fma(a, p.Normalized[i*d+j], out[d+j])
				out[2*d+j] += a
			}
			if p.DegreeMessages {
				out[3*d+j] += p.DegreeGradients[(i-p.firstRow(t))*d+j]
			}
		}
	}
}

// VectorSum sets the gradients of a layer's vectors.
func (p *Batch) VectorSum(t int) {
	for kind, at := range []int{p.LinearBiasAt, p.ScaleAt, p.ShiftAt, p.DegreeAt} {
		if kind < 3 && !p.Bias || kind == 3 && !p.DegreeMessages {
			continue
		}
		for j := range p.Dim {
			sum := float32(0)
			for part := range p.Parts {
				sum += p.Partial[(part*vectors+kind)*p.Dim+j]
			}
			put(&p.gradientsOf(t)[at+j], sum, p.Accumulate)
		}
	}
}

// relationGradient returns the gradient of output o of a layer's relation embeddings, from query b.
func (p *Batch) relationGradient(b, t, o int) float32 {
	return p.RelationGradients[(b*p.Layers+t-1)*p.RelationCount*p.Dim+o]
}

// RelationParameters sets the gradients of relation embeddings that no query changes: the sums over the queries.
func (p *Batch) RelationParameters() {
	for t := 1; t <= p.Layers; t++ {
		for o := range p.RelationCount * p.Dim {
			sum := float32(0)
			for b := range p.Batch {
				sum += p.relationGradient(b, t, o)
			}
			put(&p.gradientsOf(t)[p.RelationAt+o], sum, p.Accumulate)
		}
	}
}

// RelationMap sets the gradients of the maps that yield relation embeddings: an outer product a query.
func (p *Batch) RelationMap() {
	for t := 1; t <= p.Layers; t++ {
		for o := range p.RelationCount * p.Dim {
			bias, w := float32(0), make([]float32, p.Dim)
			for b := range p.Batch {
				g := p.relationGradient(b, t, o)
				bias += g
				for j, x := range p.queryEmbedding(b) {
					w[j] = fma(x, g, w[j])
				}
			}
			put(&p.gradientsOf(t)[p.RelationBiasAt+o], bias, p.Accumulate)
			for j := range w {
				put(&p.gradientsOf(t)[p.RelationAt+o*p.Dim+j], w[j], p.Accumulate)
			}
		}
	}
}

// queryOutputs is the number of outputs of a partial sum of RelationQuery, which queryWarps warps share.
const queryOutputs, queryWarps = 512, 8

// RelationQuery sets partial sums of the gradients of the queries' embeddings through the maps that yield relation embeddings.
func (p *Batch) RelationQuery() {
	outputs := p.RelationCount * p.Dim
	teams := queryWarps * p.teams()
	for b := range p.Batch {
		for piece := range p.queryPieces() {
			sums := make([][]float32, teams)
			for team := range sums {
				sums[team] = make([]float32, p.Dim)
			}
			for i := piece * queryOutputs; i < min((piece+1)*queryOutputs, p.Layers*outputs); i++ {
				t, o, sum := 1+i/outputs, i%outputs, sums[i%teams]
				g := p.relationGradient(b, t, o)
				for j, w := range p.layer(t)[p.RelationAt+o*p.Dim:][:p.Dim] {
					sum[j] = fma(w, g, sum[j])
				}
			}
			for j := range p.Dim {
				total := float32(0)
				for warp := range queryWarps {
					lanes := make([]float32, p.teams())
					for team := range lanes {
						lanes[team] = sums[warp*len(lanes)+team][j]
					}
					if warp == 0 {
						total = sumPairs(lanes)
					} else {
						total += sumPairs(lanes)
					}
				}
				p.Partial[(b*p.queryPieces()+piece)*p.Dim+j] = total
			}
		}
	}
}

// queryPieces returns the number of partial sums of a query in RelationQuery.
func (p *Batch) queryPieces() int { return blocks(p.Layers*p.RelationCount*p.Dim, queryOutputs) }

// AddQueryGradients adds to the gradients of the queries' embeddings what comes through the sources' states, the boundary, and the
// pieces of RelationQuery.
func (p *Batch) AddQueryGradients(pieces int) {
	for b, q := range p.Queries[:p.Batch] {
		for j := range p.Dim {
			sum := p.QueryGradients[b*p.Dim+j] + p.Gradient[b*p.Dim+j] // the sources are the first rows
			for t := 1; t <= p.Layers; t++ {
				if p.active(t, b, q.Source) {
					sum += p.Boundary[(b*(p.Layers+1)+t)*p.Dim+j]
				}
			}
			for piece := range pieces {
				sum += p.Partial[(b*pieces+piece)*p.Dim+j]
			}
			p.QueryGradients[b*p.Dim+j] = sum
		}
	}
}

// QueryParameters sets the gradients of all queries' embeddings.
func (p *Batch) QueryParameters() {
	for r := range p.RelationCount {
		for j := range p.Dim {
			sum := float32(0)
			for b, q := range p.Queries[:p.Batch] {
				if int(q.Relation) == r {
					sum += p.QueryGradients[b*p.Dim+j]
				}
			}
			put(&p.Gradients[p.QueryAt+r*p.Dim+j], sum, p.Accumulate)
		}
	}
}
