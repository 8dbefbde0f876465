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
		g := p.messageGradient(b, int(link.Reverse), p.message(x, w), p.FeatureGradients[(p.rowNumber(t, b, link.Sender)-1)*p.Width:])
		p.passOn(gradient, g, w)
		for j := range d {
			sum[j] += g[j]
		}
		if i+1 < len(sent) && sent[i+1].Inverse == link.Inverse {
			continue
		}
		p.endRun(b, t, int(link.Slot), x, sum)
		clear(sum)
	}
}

// messageGradient returns the gradient of a message along an edge, from its receiver's terms.
func (p *Batch) messageGradient(b, edge int, message, terms []float32) []float32 {
	d, gradient := p.Dim, make([]float32, p.Dim)
	for j := range d {
		switch p.Reduction {
		case pna:
			most, least := p.attains(b, edge, j)
			g := fma(message[j], terms[4*d+j], terms[d+j])
			g += chosen(most, terms[2*d+j])
			gradient[j] = g + chosen(least, terms[3*d+j])
		case maxOnly:
			most, _ := p.attains(b, edge, j)
			gradient[j] += chosen(most, terms[d+j])
		default:
			gradient[j] = terms[d+j]
		}
	}
	return gradient
}

// endRun stores what a relation's embedding gets of messages of x, whose gradients add up to sum, in a slot.
func (p *Batch) endRun(b, t, slot int, x, sum []float32) {
	at := b*p.Edges + slot
	to := p.RunSums[at*p.Dim:][:p.Dim]
	clear(to)
	p.passOn(to, sum, x)
	p.RunLayers[at] = uint8(t)
}

// EmptyGradients sets what relations' embeddings get in layer t of the messages of states of 0, TransE's: those from senders without a row
// in the layer before. Teams share the messages of each chunk in their order.
func (p *Batch) EmptyGradients(t int) {
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		row, shares := p.Rows[i], 1
		if i < p.lightRow(t) {
			shares = heavyWarps
		}
		for warp := range shares {
			begin, end := int(row.Begin), int(row.End)
			if shares > 1 {
				begin, end = row.share(warp)
			}
			for ; begin < end; begin += chunk {
				empty := p.empties(row, t, begin, min(begin+chunk, end))
				each := blocks(len(empty), p.teams())
				for team := range p.teams() {
					p.emptyRuns(i, t, empty[min(team*each, len(empty)):min((team+1)*each, len(empty))])
				}
			}
		}
	}
}

// empties returns those of some in-edges that carry a message of a state of 0 in layer t.
func (p *Batch) empties(row Row, t, begin, end int) (edges []int) {
	b := int(row.Query)
	for e := begin; e < end; e++ {
		u, relation := p.Links[e].Sender, p.inverse(p.Links[e].Inverse)
		far := p.distance(b, u)
		admitted := far < int(row.Distance)+p.Delta && far <= p.Layers && !p.Queries[b].removes(u, relation, row.Entity)
		if admitted && p.rowNumber(t-1, b, u) == 0 {
			edges = append(edges, e)
		}
	}
	return edges
}

// emptyRuns stores what the embeddings of runs of equal relations get of messages of states of 0 to row i, in the slot of the last of each.
func (p *Batch) emptyRuns(i, t int, edges []int) {
	b, zero, sum := int(p.Rows[i].Query), make([]float32, p.Dim), make([]float32, p.Dim)
	terms := p.FeatureGradients[(i-p.firstRow(t))*p.Width:]
	for k, e := range edges {
		inverse := p.Links[e].Inverse
		for j, g := range p.messageGradient(b, e, p.embedding(b, t, p.inverse(inverse)), terms) {
			sum[j] += g
		}
		if k+1 < len(edges) && p.Links[edges[k+1]].Inverse == inverse {
			continue
		}
		p.endRun(b, t, int(p.Links[p.Links[e].Reverse].Slot), zero, sum)
		clear(sum)
	}
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
