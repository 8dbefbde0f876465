package mirror

import "math"

// evaluate returns the output of an MLP for a state, and sets its hidden units. Each of 32 lanes adds every 32nd unit.
func (p *Batch) evaluate(at int, shift, x, h []float32) float32 {
	hidden := p.hidden()
	weights, output := p.Parameters[at:], p.Parameters[at+hidden*hidden+hidden:]
	var sums [32]float32
	for unit := range hidden {
		h[unit] = shift[unit]
		for j, v := range x {
			h[unit] = fma(v, weights[unit*hidden+j], h[unit])
		}
		h[unit] = relu(h[unit])
		sums[unit%32] = fma(h[unit], output[unit], sums[unit%32])
	}
	return sumPairs(sums[:]) + output[hidden]
}

// keep stores what the backward pass reads of an MLP row.
func (p *Batch) keep(row int, x, h []float32) {
	copy(p.Final[row*p.Dim:], x)
	copy(p.Hidden[row*p.hidden():], h)
}

// candidate is a row of the MLP of scores: while training one of a query's candidates, while scoring any entity.
type candidate struct {
	row, query int
	entity     int32
	distance   int
	last       int // age of its last state, -1 where it is not reached
}

// eachCandidate calls do for all rows that are used.
func (p *Batch) eachCandidate(do func(c candidate)) {
	for b, q := range p.Queries[:p.Batch] {
		n := p.CandidateStride
		if p.Training {
			n = int(q.Candidates)
		}
		for i := range n {
			c := candidate{row: b*p.CandidateStride + i, query: b, entity: int32(i), last: -1}
			if p.Training {
				c.entity = p.CandidateEntities[c.row]
			}
			if c.distance = p.distance(b, c.entity); c.distance != unreached {
				c.last = p.lastAge(c.distance)
			}
			do(c)
		}
	}
}

// Score sets the scores of the candidates, or while scoring of all entities. An unreached one's final state is 0.
func (p *Batch) Score() {
	hidden := p.hidden()
	p.eachCandidate(func(c candidate) {
		x, h := make([]float32, p.Dim), make([]float32, hidden)
		switch {
		case p.Specific:
			copy(x, p.Final[c.row*p.Dim:]) // from Attend
		case c.last >= 0:
			copy(x, p.state(c.last, c.query, c.entity))
		}
		p.Scores[c.row] = p.evaluate(p.MLPAt, p.Shift[c.query*hidden:], x, h)
		if p.Training {
			p.keep(c.row, x, h)
		}
	})
}

// attentionRow returns the row of an age of a candidate in the arrays of MLP rows: they follow those of the scores.
func (p *Batch) attentionRow(row, age int) int {
	return p.Batch*p.CandidateStride + row*p.Ages + age
}

// Attend sets the final states where delta is specific: an attention over the entity's states.
func (p *Batch) Attend() {
	hidden := p.hidden()
	shifts := p.Shift
	if p.AttentionAt != p.MLPAt {
		shifts = shifts[p.Batch*hidden:]
	}
	p.eachCandidate(func(c candidate) {
		h := make([]float32, hidden)
		logits, highest := [32]float32{}, float32(-3e38)
		for age := range c.last + 1 {
			x := p.state(age, c.query, c.entity)
			logits[age] = p.evaluate(p.AttentionAt, shifts[c.query*hidden:], x, h) / p.AttentionTemperature
			highest = larger(highest, logits[age])
			if p.Training {
				p.keep(p.attentionRow(c.row, age), x, h)
			}
		}
		var weights [32]float32
		for age := range c.last + 1 {
			weights[age] = exponential(logits[age] - highest)
		}
		total := sumPairs(weights[:])
		final := make([]float32, p.Dim)
		for age := range c.last + 1 {
			weights[age] /= total
			for j, x := range p.state(age, c.query, c.entity) {
				final[j] = fma(weights[age], x, final[j])
			}
		}
		copy(p.Final[c.row*p.Dim:], final)
		if p.Training {
			copy(p.Attention[c.row*p.Ages:], weights[:p.Ages])
		}
	})
}

// Loss sets the loss of each query, with one positive and negatives, each as often as it was drawn, and the scores' gradients. Each of
// 256 threads adds every 256th candidate.
func (p *Batch) Loss() {
	for b, q := range p.Queries[:p.Batch] {
		n, of := int(q.Candidates), b*p.CandidateStride
		scores, drawn, gradients := p.Scores[of:], p.Multiplicity[of:], p.ScoreGradients[of:]
		var highest, totals, losses [256]float32
		for thread := range highest {
			highest[thread] = -3e38
		}
		dealt(n, 256, func(thread, c int) {
			if drawn[c] > 0 {
				highest[thread] = larger(highest[thread], scores[c])
			}
		})
		most := reduceBlock(highest[:], larger)
		weight := func(score float32) float32 {
			if p.Temperature > 0 {
				return exponential((score - most) / p.Temperature)
			}
			return 1
		}
		dealt(n, 256, func(thread, c int) {
			if drawn[c] > 0 {
				totals[thread] = fma(weight(scores[c]), float32(drawn[c]), totals[thread])
			}
		})
		total, half := reduceBlock(totals[:], plus), p.Share/2
		dealt(n, 256, func(thread, c int) {
			s, gradient := scores[c], float32(0)
			if drawn[c] > 0 {
				w := float32(weight(s) * float32(drawn[c]) / total * half)
				losses[thread] = fma(w, softplus(s), losses[thread])
				gradient = float32(w * sigmoid(s))
			}
			if c == 0 {
				losses[thread] = fma(half, softplus(-s), losses[thread])
				gradient -= float32(half * sigmoid(-s))
			}
			gradients[c] = gradient
		})
		p.Losses[b] = reduceBlock(losses[:], plus)
		if !(absolute(p.Losses[b]) <= math.MaxFloat32) {
			p.Bad[0] |= 1
		}
	}
}

// differentiate is the backward pass of evaluate: it stores the hidden units' gradients and adds to x's.
func (p *Batch) differentiate(at, row int, gradient float32, x []float32) {
	hidden := p.hidden()
	weights, output := p.Parameters[at:], p.Parameters[at+hidden*hidden+hidden:]
	for unit, h := range p.Hidden[row*hidden:][:hidden] {
		g := float32(0)
		if h > 0 {
			g = float32(gradient * output[unit])
		}
		p.HiddenGradients[row*hidden+unit] = g
		for j := range x {
			x[j] = fma(g, weights[unit*hidden+j], x[j])
		}
	}
}

// ScoreBackward sets the gradients of the candidates' final states.
func (p *Batch) ScoreBackward() {
	each := 1
	if p.Specific {
		each = p.Ages
	}
	p.eachCandidate(func(c candidate) {
		x := make([]float32, p.Dim)
		p.differentiate(p.MLPAt, c.row, p.ScoreGradients[c.row], x)
		copy(p.FinalGradients[c.row*each*p.Dim:], x)
	})
}

// AttendBackward replaces the gradient of each final state by one for each of the states that it is made of.
func (p *Batch) AttendBackward() {
	p.eachCandidate(func(c candidate) {
		final := append([]float32(nil), p.FinalGradients[c.row*p.Ages*p.Dim:][:p.Dim]...)
		// The gradient of a weight is along the final state's; each of 32 lanes adds every 32nd dimension.
		var along, weights, products [32]float32
		for age := range c.last + 1 {
			var lanes [32]float32
			for j, g := range final {
				lanes[j%32] = fma(g, p.Final[p.attentionRow(c.row, age)*p.Dim+j], lanes[j%32])
			}
			along[age], weights[age] = sumPairs(lanes[:]), p.Attention[c.row*p.Ages+age]
			products[age] = float32(weights[age] * along[age])
		}
		mean := sumPairs(products[:])
		for age := range p.Ages {
			row := p.attentionRow(c.row, age)
			if age > c.last {
				p.ScoreGradients[row] = 0
				clear(p.HiddenGradients[row*p.hidden():][:p.hidden()])
				p.keep(row, make([]float32, p.Dim), make([]float32, p.hidden()))
				continue
			}
			p.ScoreGradients[row] = weights[age] * (along[age] - mean) / p.AttentionTemperature
			x := make([]float32, p.Dim)
			for j, g := range final {
				x[j] = float32(weights[age] * g)
			}
			p.differentiate(p.AttentionAt, row, p.ScoreGradients[row], x)
			copy(p.FinalGradients[(c.row*p.Ages+age)*p.Dim:], x)
		}
	})
}

// mlpSize is the number of values of a partial sum of an MLP's gradients: state weights, sums of hidden gradients, output weights,
// output bias.
func (p *Batch) mlpSize() int { return p.hidden()*p.Dim + 2*p.hidden() + 1 }

// mlpRows is the number of rows of a partial sum.
func (p *Batch) mlpRows() int { return 2048 / p.Dim }

// mlpPieces returns the number of ages of each candidate that are rows of an MLP, and the number of partial sums of a query.
func (p *Batch) mlpPieces(attention bool) (ages, pieces int) {
	ages = 1
	if attention {
		ages = p.Ages
	}
	return ages, blocks(p.CandidateStride*ages, p.mlpRows())
}

// MLPPartial sets partial sums of an MLP's gradients over the rows of each query.
func (p *Batch) MLPPartial(attention bool) {
	ages, pieces := p.mlpPieces(attention)
	hidden, size := p.hidden(), p.mlpSize()
	for b, q := range p.Queries[:p.Batch] {
		of := b * p.CandidateStride
		if attention {
			of = p.attentionRow(of, 0)
		}
		for piece := range pieces {
			first, end := piece*p.mlpRows(), min((piece+1)*p.mlpRows(), int(q.Candidates)*ages)
			out := p.Partial[(b*pieces+piece)*size:][:size]
			clear(out)
			for row := of + first; row < of+end; row++ {
				x, h := p.Final[row*p.Dim:][:p.Dim], p.Hidden[row*hidden:]
				for unit, g := range p.HiddenGradients[row*hidden:][:hidden] {
					for j := range x {
						out[unit*p.Dim+j] = fma(g, x[j], out[unit*p.Dim+j])
					}
					out[hidden*p.Dim+unit] += g
					output := &out[hidden*p.Dim+hidden+unit]
					*output = fma(p.ScoreGradients[row], h[unit], *output)
				}
				out[size-1] += p.ScoreGradients[row]
			}
		}
	}
}

// MLPQuery adds the partial sums of each query, in place of the first.
func (p *Batch) MLPQuery(attention bool) {
	ages, pieces := p.mlpPieces(attention)
	size := p.mlpSize()
	for b, q := range p.Queries[:p.Batch] {
		for i := range size {
			sum := float32(0)
			for piece := range blocks(int(q.Candidates)*ages, p.mlpRows()) {
				sum += p.Partial[(b*pieces+piece)*size+i]
			}
			p.Partial[b*pieces*size+i] = sum
		}
	}
}

// MLPSum sets an MLP's gradients, or adds to them: sums over the queries. The weights of the queries' embeddings get an outer product a
// query.
func (p *Batch) MLPSum(attention, add bool) {
	_, pieces := p.mlpPieces(attention)
	hidden := p.hidden()
	gradients := p.Gradients[p.mlp(attention):][:hidden*hidden+2*hidden+1]
	for i := range gradients {
		sum, unit, input := float32(0), i/hidden, i%hidden
		for b := range p.Batch {
			of := p.Partial[b*pieces*p.mlpSize():]
			switch {
			case i >= hidden*hidden:
				sum += of[hidden*p.Dim+i-hidden*hidden]
			case input < p.Dim:
				sum += of[unit*p.Dim+input]
			default:
				sum = fma(of[hidden*p.Dim+unit], p.queryEmbedding(b)[input-p.Dim], sum)
			}
		}
		put(&gradients[i], sum, add)
	}
}

// MLPEmbedding sets the gradients of the queries' embeddings through the MLP of scores, or adds those through the attention's.
func (p *Batch) MLPEmbedding(attention bool) {
	_, pieces := p.mlpPieces(attention)
	hidden := p.hidden()
	weights := p.Parameters[p.mlp(attention):]
	for b := range p.Batch {
		sums := p.Partial[b*pieces*p.mlpSize()+hidden*p.Dim:]
		for j := range p.Dim {
			gradient := &p.QueryGradients[b*p.Dim+j]
			sum := float32(0)
			if attention {
				sum = *gradient
			}
			for h := range hidden {
				sum = fma(sums[h], weights[h*hidden+p.Dim+j], sum)
			}
			*gradient = sum
		}
	}
}
