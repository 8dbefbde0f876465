package mirror

// collect returns the gradient of an entity's state from the messages that it sends in layer t, over in-edges from begin to end: every
// edge has its inverse. Teams share the messages of each chunk in their order.
func (p *Batch) collect(row Row, t, begin, end int) []float32 {
	sums := make([][]float32, p.teams())
	for team := range sums {
		sums[team] = make([]float32, p.Dim)
	}
	for ; begin < end; begin += chunk {
		sent := p.sentAlong(row, t, begin, min(begin+chunk, end))
		each := blocks(len(sent), len(sums))
		for team, sum := range sums {
			p.collectRuns(row, t, sent[min(team*each, len(sent)):min((team+1)*each, len(sent))], sum)
		}
	}
	return sumTeams(sums)
}

// sentAlong returns those of some in-edges whose inverses carry a message in layer t.
func (p *Batch) sentAlong(row Row, t, begin, end int) (sent []Link) {
	b := int(row.Query)
	for _, link := range p.Links[begin:end] {
		if p.rowNumber(t, b, link.Sender) > 0 && !p.Queries[b].removes(link.Sender, p.inverse(link.Inverse), row.Entity) {
			sent = append(sent, link)
		}
	}
	return sent
}

// rowNumber returns 1 + the number of an entity's row in layer t, or 0 where the layer does not update it.
func (p *Batch) rowNumber(t, b int, entity int32) int {
	return int(p.RowNumbers[(t*p.Batch+b)*p.Entities+int(entity)])
}

// sumTeams adds the vectors of teams, neighbors first.
func sumTeams(sums [][]float32) []float32 {
	total := make([]float32, len(sums[0]))
	for j := range total {
		values := make([]float32, len(sums))
		for team := range values {
			values[team] = sums[team][j]
		}
		total[j] = sumPairs(values)
	}
	return total
}

// collectRuns adds to the gradient of an entity's state that of its messages along some edges, and stores what the embeddings of runs
// of equal relations get, in the slot of the last edge of each.
func (p *Batch) collectRuns(row Row, t int, sent []Link, gradient []float32) {
	b, d := int(row.Query), p.Dim
	x, sum := p.state(t-1-int(row.Distance), b, row.Entity), make([]float32, d)
	for i, link := range sent {
		w := p.embedding(b, t, link.Inverse)
		terms := p.featureGradients(p.rowNumber(t, b, link.Sender) - 1)
		for j := range d {
			g := p.messageGradient(terms, j, float32(x[j]*w[j]), b, int(link.Reverse))
			gradient[j] = fma(g, w[j], gradient[j])
			sum[j] += g
		}
		if i+1 < len(sent) && sent[i+1].Inverse == link.Inverse {
			continue
		}
		at := b*p.Edges + int(link.Slot)
		for j := range d {
			p.RunSums[at*d+j] = float32(sum[j] * x[j])
		}
		p.RunLayers[at] = uint8(t)
		clear(sum)
	}
}

// messageGradient returns the gradient of dimension j of a message, from the terms of its receiver.
func (p *Batch) messageGradient(terms []float32, j int, message float32, b, edge int) float32 {
	d := p.Dim
	switch p.Reduction {
	case pna:
		most, least := p.attains(b, edge, j)
		g := fma(message, terms[4*d+j], terms[d+j])
		g += chosen(most, terms[2*d+j])
		return g + chosen(least, terms[3*d+j])
	case maxOnly:
		most, _ := p.attains(b, edge, j)
		g := float32(0)
		g += chosen(most, terms[d+j])
		return g
	}
	return terms[d+j]
}

// chosen returns a value where it is wanted, else 0.
func chosen(wanted bool, value float32) float32 {
	if wanted {
		return value
	}
	return 0
}

// extremes returns the bits of the dimensions in which an edge's message is the first maximum, and the first minimum.
func (p *Batch) extremes(b, edge int) (most, least []uint32) {
	words := p.Dim / 32
	of := p.Extremes[2*words*(b*p.Edges+edge):]
	return of[:words], of[words : 2*words]
}

func (p *Batch) attains(b, edge, j int) (most, least bool) {
	highest, lowest := p.extremes(b, edge)
	return highest[j/32]>>(j%32)&1 == 1, lowest[j/32]>>(j%32)&1 == 1
}

// settle completes the gradient of row i's state after layer t, and, but for the sources in layer 0, takes it through the residual
// update to the linear map's output.
func (p *Batch) settle(row Row, i, t int, g []float32) {
	b, age := int(row.Query), t-int(row.Distance)
	add := func(values []float32) {
		for j := range g {
			g[j] += values[j]
		}
	}
	if row.Slot > 0 && (p.Specific || age == p.lastAge(int(row.Distance))) {
		at := b*p.CandidateStride + int(row.Slot) - 1
		if p.Specific {
			at = at*p.Ages + age
		}
		add(p.FinalGradients[at*p.Dim:])
	}
	if t < p.Layers {
		if next := p.rowNumber(t+1, b, row.Entity); next > 0 {
			add(p.Gradient[(p.firstRow(t+1)+next-1)*p.Dim:])
			add(p.featureGradients(next - 1))
		}
	}
	copy(p.Gradient[i*p.Dim:], g)
	if t == 0 {
		return
	}
	layer, normalized, linear := p.layer(t), p.Normalized[i*p.Dim:][:p.Dim], p.Linear[i*p.Dim:][:p.Dim]
	scaled := make([]float32, p.Dim)
	for j := range g {
		z, scale, gradient := normalized[j], float32(1), float32(0)
		if p.Bias {
			scale = layer[p.ScaleAt+j]
			z = fma(z, scale, layer[p.ShiftAt+j])
		}
		if z > 0 && p.kept(i, j) {
			gradient = float32(g[j] * p.KeepScale)
		}
		if p.Bias {
			p.Affine[i*p.Dim+j] = gradient
		}
		scaled[j] = float32(gradient * scale)
	}
	mean, along := sumDims(scaled)/float32(p.Live), dotDims(scaled, normalized)/float32(p.Live)
	clear(linear)
	for j := range p.Live {
		linear[j] = fma(-normalized[j], along, scaled[j]-mean) * p.Deviations[i]
	}
}

// kept reports whether dropout keeps a dimension of row i.
func (p *Batch) kept(i, j int) bool {
	return p.Threshold == 0 || p.Masks[i*p.Dim/32+j/32]>>(j%32)&1 != 0
}

// StateGradients sets the gradients of the states of layer t, once those of layer t+1 are there. The edges of heavy entities, in layer 0
// of the sources, are shared by warps, whose sums are added one after another.
func (p *Batch) StateGradients(t int) {
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		row := p.Rows[i]
		g := make([]float32, p.Dim)
		switch {
		case t == p.Layers:
		case i >= p.lightRow(t):
			g = p.collect(row, t+1, int(row.Begin), int(row.End))
		default:
			for warp := range heavyWarps {
				begin, end := row.share(warp)
				for j, x := range p.collect(row, t+1, begin, end) {
					g[j] += x
				}
			}
		}
		p.settle(row, i, t, g)
	}
}

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
// the other members get and which edges attain the extremes.
func (p *Batch) setTerms(i, t int) {
	row, d := p.Rows[i], p.Dim
	f, g := p.features(t, i), p.featureGradients(i-p.firstRow(t))
	for e := int(row.Begin); e < int(row.End) && p.hasExtremes(); e++ {
		most, least := p.extremes(int(row.Query), e)
		clear(most)
		clear(least)
		for j := range d {
			if int(p.Attained[2*i*d+j]) == e {
				most[j/32] |= 1 << (j % 32)
			}
			if int(p.Attained[(2*i+1)*d+j]) == e {
				least[j/32] |= 1 << (j % 32)
			}
		}
	}
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

// MessageTerms sets what determines the gradients of the messages of layer t.
func (p *Batch) MessageTerms(t int) {
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		p.setTerms(i, t)
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
			copy(p.RelationPartials[(b*p.Pieces+piece)*p.Dim:], sumTeams(sums))
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

// RelationSum sets the sums of the relations' pieces.
func (p *Batch) RelationSum(t int) {
	for b := range p.Batch {
		for r := range p.RelationCount {
			for j := range p.Dim {
				sum := float32(0)
				for piece := p.RelationPieces[r]; piece < p.RelationPieces[r+1]; piece++ {
					sum += p.RelationPartials[(b*p.Pieces+int(piece))*p.Dim+j]
				}
				p.RelationGradients[((b*p.Layers+t-1)*p.RelationCount+r)*p.Dim+j] = sum
			}
		}
	}
}
