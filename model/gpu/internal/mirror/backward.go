package mirror

// terms determine the gradient of a member x of a receiver's set in one dimension: base + slope x, and up or down for the first that
// attains the maximum or the minimum.
type terms struct{ base, slope, most, least, up, down float32 }

// newTerms returns the terms of dimension j of a row with features f, whose gradients are g.
func (p *Batch) newTerms(row Row, f, g []float32, j int) terms {
	d, divisor := p.Dim, p.Scales[row.Degree].Divisor
	switch p.Reduction {
	case pna:
		mean, deviation := f[d+j], f[4*d+j]
		s := terms{most: f[2*d+j], least: f[3*d+j], up: g[2*d+j], down: g[3*d+j]}
		if deviation > 1e-3 {
			s.slope = float32(g[4*d+j]*divisor) / deviation
		}
		s.base = fma(-s.slope, mean, float32(g[d+j]*divisor))
		return s
	case meanOnly:
		return terms{base: float32(g[d+j] * divisor)}
	case maxOnly:
		return terms{most: f[d+j], up: g[d+j]}
	}
	return terms{base: g[d+j]}
}

// member returns the gradient of a member that is no message. Where no message attains an extreme, the first of these does.
func (s *terms) member(x float32) float32 {
	gradient := fma(s.slope, x, s.base)
	if x == s.least {
		gradient += s.down
		s.down = 0
	}
	if x == s.most {
		gradient += s.up
		s.up = 0
	}
	return gradient
}

// others stores the gradients of the members that are no messages: the boundary at the source, and the copies of the degree message.
func (p *Batch) others(s terms, row Row, i, t, j int) {
	if p.hasExtremes() && p.Attained[2*i*p.Dim+j] >= 0 {
		s.up = 0
	}
	if p.hasExtremes() && p.Attained[(2*i+1)*p.Dim+j] >= 0 {
		s.down = 0
	}
	if row.Flags&source != 0 {
		b := int(row.Query)
		p.Boundary[(b*(p.Layers+1)+t)*p.Dim+j] = s.member(p.queryEmbedding(b)[j])
	} else {
		s.member(0)
	}
	if !p.DegreeMessages {
		return
	}
	gradient := float32(0)
	if copies := row.Degree - p.RowAdmitted[i]; copies > 0 {
		x := p.layer(t)[p.DegreeAt+j]
		gradient = float32(fma(s.slope, x, s.base) * float32(copies-1))
		gradient += s.member(x)
	}
	p.DegreeGradients[(i-p.firstRow(t))*p.Dim+j] = gradient
}

// setTerms replaces the gradients of the features of row i, but for those of its own state, by the terms of its messages, and stores what
// the other members get.
func (p *Batch) setTerms(i, t int) {
	row, d := p.Rows[i], p.Dim
	f, g := p.features(t, i), p.featureGradients(i-p.firstRow(t))
	for j := range d {
		s := p.newTerms(row, f, g, j)
		p.others(s, row, i, t, j)
		switch p.Reduction {
		case pna:
			g[d+j], g[2*d+j], g[3*d+j], g[4*d+j] = s.base, s.up, s.down, s.slope
		case maxOnly:
			g[d+j] = s.up
		default:
			g[d+j] = s.base
		}
	}
}

// MessageExtremes sets which messages of layer t attain extremes, by edge.
func (p *Batch) MessageExtremes(t int) {
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		row := p.Rows[i]
		for e := int(row.Begin); e < int(row.End); e++ {
			most, least := p.extremes(int(row.Query), e)
			clear(most)
			clear(least)
			for j := range p.Dim {
				if int(p.Attained[2*i*p.Dim+j]) == e {
					most[j/32] |= 1 << (j % 32)
				}
				if int(p.Attained[(2*i+1)*p.Dim+j]) == e {
					least[j/32] |= 1 << (j % 32)
				}
			}
		}
	}
}

// RelationPartial sets the gradient of the relations' embeddings in layer t, by pieces of a relation's slots. Of those of a chunk that have
// one, each team takes every teams-th, two at a time.
func (p *Batch) RelationPartial(t int) {
	for b := range p.Batch {
		for piece := range p.Pieces {
			sums := make([][]float32, p.teams())
			for team := range sums {
				sums[team] = make([]float32, p.Dim)
			}
			end := int(p.PieceBegin[piece+1])
			for begin := int(p.PieceBegin[piece]); begin < end; begin += chunk {
				vectors := p.runSums(b, t, begin, min(begin+chunk, end))
				for i := 0; i < len(vectors); i += 2 * len(sums) {
					for team, sum := range sums {
						x, y := vectorAt(vectors, i+team, p.Dim), vectorAt(vectors, i+len(sums)+team, p.Dim)
						for j := range sum {
							sum[j] += x[j] + y[j]
						}
					}
				}
			}
			copy(p.RelationPartials[(((t-1)*p.Batch+b)*p.Pieces+piece)*p.Dim:], sumTeams(sums))
		}
	}
}

// runSums returns the gradients that some slots have of layer t.
func (p *Batch) runSums(b, t, begin, end int) (vectors [][]float32) {
	for slot := b*p.Edges + begin; slot < b*p.Edges+end; slot++ {
		if int(p.RunLayers[slot]) == t {
			vectors = append(vectors, p.RunSums[slot*p.Dim:][:p.Dim])
		}
	}
	return vectors
}

// vectorAt returns a vector, or zeros behind the last one.
func vectorAt(vectors [][]float32, i, dim int) []float32 {
	if i < len(vectors) {
		return vectors[i]
	}
	return make([]float32, dim)
}

// RelationSum sets the sums of the relations' pieces, of all layers.
func (p *Batch) RelationSum() {
	for i := range p.Batch * p.Layers * p.RelationCount {
		r, t, b := i%p.RelationCount, i/p.RelationCount%p.Layers, i/p.RelationCount/p.Layers
		for j := range p.Dim {
			sum := float32(0)
			for piece := p.RelationPieces[r]; piece < p.RelationPieces[r+1]; piece++ {
				sum += p.RelationPartials[((t*p.Batch+b)*p.Pieces+int(piece))*p.Dim+j]
			}
			p.RelationGradients[i*p.Dim+j] = sum
		}
	}
}
