package mirror

// scaled returns the gradients of the linear map's outputs of a row before the scalers combine them.
func (p *Batch) scaled(i int) []float32 {
	scale, linear := p.Scales[p.RowDegree[i]], p.Linear[i*p.Dim:]
	gradients := make([]float32, p.columns())
	for column := range gradients {
		by := [3]float32{1, scale.Up, scale.Down}[column/p.Dim]
		gradients[column] = float32(linear[column%p.Dim] * by)
	}
	return gradients
}

// SetFeatureGradients sets the gradients of a layer's features.
func (p *Batch) SetFeatureGradients(t int) {
	width := p.width()
	transposed := p.Transposed[(t-1)*width*p.columns():]
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		out := p.FeatureGradients[(i-p.firstRow(t))*width:][:width]
		clear(out)
		for column, g := range p.scaled(i) {
			for f := range out {
				out[f] = fma(g, transposed[column*width+f], out[f])
			}
		}
	}
}

// group is the number of successive rows that are added to the same partial sum of weights' gradients.
const group = 16

// weightParts returns the number of partial sums of a layer's weight gradients.
func (p *Batch) weightParts(t int) int {
	return min(p.Parts, blocks(p.endRow(t)-p.firstRow(t), 4*group))
}

// WeightPartial sets partial sums of a layer's weight gradients: features of rows times the gradients of their outputs. The own state has
// the first scaler alone.
func (p *Batch) WeightPartial(t int) {
	columns, size, parts := p.columns(), p.width()*p.columns(), p.weightParts(t)
	outputs := func(f int) int {
		if f < p.Dim {
			return p.Dim
		}
		return columns
	}
	for f := range parts * p.width() {
		clear(p.Partial[f*columns:][:outputs(f%p.width())])
	}
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		out, gradients := p.Partial[(i-p.firstRow(t))/group%parts*size:], p.scaled(i)
		for f, x := range p.features(t, i) {
			for column, g := range gradients[:outputs(f)] {
				out[f*columns+column] = fma(x, g, out[f*columns+column])
			}
		}
	}
}

// WeightSum sets the weights' gradients, in the stored order. Each of 8 warps adds every eighth partial sum.
func (p *Batch) WeightSum(t int) {
	width, columns := p.width(), p.columns()
	for f := range width {
		for column := range columns {
			at := p.stored(f, column/p.Dim)
			if at < 0 {
				continue
			}
			var sums [8]float32
			for part := range p.weightParts(t) {
				sums[part%8] += p.Partial[(part*width+f)*columns+column]
			}
			sum := sums[0]
			for _, s := range sums[1:] {
				sum += s
			}
			put(&p.gradientsOf(t)[p.LinearAt+column%p.Dim*p.storedColumns()+at], sum, p.Accumulate)
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
// relations.
func (p *Batch) AddQueryGradients() {
	for b, q := range p.Queries[:p.Batch] {
		for j := range p.Dim {
			sum := p.QueryGradients[b*p.Dim+j] + p.Gradient[b*p.Dim+j] // the sources are the first rows
			for t := 1; t <= p.Layers; t++ {
				if p.active(t, b, q.Source) {
					sum += p.Boundary[(b*(p.Layers+1)+t)*p.Dim+j]
				}
			}
			for piece := 0; p.DependentRelations && piece < p.queryPieces(); piece++ {
				sum += p.Partial[(b*p.queryPieces()+piece)*p.Dim+j]
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
