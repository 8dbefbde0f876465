package mirror

import "slices"

// members is a set of messages.
type members struct {
	sum, squares, most, least []float32
	highest, lowest           []int32 // the edges of the first message that attains an extreme; -1: what is no message does
	admitted, empty           int32   // edges that the window admits, and those of them whose message is empty and not sent
}

// newMembers returns a set of the boundary: the query's embedding at the source, else 0. Of the sets that are merged, the first alone
// counts it in its sums.
func (p *Batch) newMembers(row Row, first bool) members {
	boundary := make([]float32, p.Dim)
	if row.Flags&source != 0 {
		copy(boundary, p.queryEmbedding(int(row.Query)))
	}
	m := members{
		sum: make([]float32, p.Dim), squares: make([]float32, p.Dim), most: boundary, least: slices.Clone(boundary),
		highest: slices.Repeat([]int32{-1}, p.Dim), lowest: slices.Repeat([]int32{-1}, p.Dim),
	}
	if first {
		for j, x := range boundary {
			m.sum[j], m.squares[j] = x, float32(x*x)
		}
	}
	return m
}

// raise and lower replace an extreme of dimension j by one beyond it, or by an equal one of a smaller edge.
func (m *members) raise(j int, x float32, edge int32) {
	if x > m.most[j] || x == m.most[j] && edge < m.highest[j] {
		m.most[j], m.highest[j] = x, edge
	}
}

func (m *members) lower(j int, x float32, edge int32) {
	if x < m.least[j] || x == m.least[j] && edge < m.lowest[j] {
		m.least[j], m.lowest[j] = x, edge
	}
}

// merge adds another set.
func (m *members) merge(other members) {
	for j := range m.sum {
		m.sum[j] += other.sum[j]
		m.squares[j] += other.squares[j]
		m.raise(j, other.most[j], other.highest[j])
		m.lower(j, other.least[j], other.lowest[j])
	}
	m.admitted += other.admitted
	m.empty += other.empty
}

// mergePairs merges a power of two sets, neighbors first.
func mergePairs(sets []members) members {
	if len(sets) == 1 {
		return sets[0]
	}
	m := mergePairs(sets[:len(sets)/2])
	m.merge(mergePairs(sets[len(sets)/2:]))
	return m
}

// message is one that a row receives: its edge, sender and the sender's state.
type message struct {
	edge  int
	state []float32
}

// messages returns those that are sent along in-edges from begin to end in layer t.
func (p *Batch) messages(row Row, t, begin, end int) (sent []message, admitted, empty int32) {
	b, zero := int(row.Query), make([]float32, p.Dim)
	for e := begin; e < end; e++ {
		u := p.Senders[e]
		if p.Queries[b].removes(u, p.Relations[e], row.Entity) {
			continue
		}
		far := p.distance(b, u)
		inside := far < int(row.Distance)+p.Delta && far <= p.Layers
		if inside {
			admitted++
		}
		switch {
		case far < t:
			sent = append(sent, message{e, p.state(t-1-far, b, u)})
		case inside && p.Message == TransE: // the embedding
			sent = append(sent, message{e, zero})
		case inside:
			empty++
		}
	}
	return sent, admitted, empty
}

// chunk is the number of edges that a warp reads at a time.
const chunk = 32

// receive returns the set of the messages along in-edges from begin to end: of those of a chunk, each team adds every teams-th.
func (p *Batch) receive(row Row, t, begin, end int, first bool) members {
	sets := make([]members, p.teams())
	for team := range sets {
		sets[team] = p.newMembers(row, first && team == 0)
	}
	for ; begin < end; begin += chunk {
		sent, admitted, empty := p.messages(row, t, begin, min(begin+chunk, end))
		sets[0].admitted += admitted
		sets[0].empty += empty
		for i, m := range sent {
			set, embedding := sets[i%len(sets)], p.embedding(int(row.Query), t, p.Relations[m.edge])
			for j, x := range p.message(m.state, embedding) {
				set.sum[j] += x
				set.squares[j] = fma(x, x, set.squares[j])
				set.raise(j, x, int32(m.edge))
				set.lower(j, x, int32(m.edge))
			}
		}
	}
	return mergePairs(sets)
}

// finish adds what is not a message and sets the features of row i of layer t, and while training which edges attain the extremes.
func (p *Batch) finish(m members, row Row, i, t int) {
	b, divisor, out := int(row.Query), p.Scales[row.Degree].Divisor, p.features(t, i)
	clear(out)
	p.RowAdmitted[i], p.RowSent[i] = m.admitted, m.admitted-m.empty
	copies := row.Degree - m.admitted
	for j := range p.Dim {
		if p.DegreeMessages && copies > 0 {
			x := p.layer(t)[p.DegreeAt+j]
			m.sum[j] = fma(x, float32(copies), m.sum[j])
			m.squares[j] = fma(float32(x*float32(copies)), x, m.squares[j])
			m.raise(j, x, -1)
			m.lower(j, x, -1)
		}
		if row.Flags&source != 0 && m.empty > 0 { // an empty message that is not sent is zero; elsewhere the boundary is
			m.raise(j, 0, -1)
			m.lower(j, 0, -1)
		}
		if age := t - int(row.Distance); age > 0 {
			out[j] = p.state(age-1, b, row.Entity)[j]
		}
		mean := float32(m.sum[j] * divisor)
		switch p.Reduction {
		case pna:
			out[p.Dim+j], out[2*p.Dim+j], out[3*p.Dim+j] = mean, m.most[j], m.least[j]
			if j < p.Live {
				out[4*p.Dim+j] = root(larger(fma(-mean, mean, float32(m.squares[j]*divisor)), 1e-6))
			}
		case sumOnly:
			out[p.Dim+j] = m.sum[j]
		case meanOnly:
			out[p.Dim+j] = mean
		case maxOnly:
			out[p.Dim+j] = m.most[j]
		}
	}
	if p.Training && p.hasExtremes() {
		copy(p.Attained[2*i*p.Dim:], m.highest)
		copy(p.Attained[(2*i+1)*p.Dim:], m.lowest)
	}
}

// heavyWarps is the number of warps that share the edges of a heavy entity.
const heavyWarps = 8

// share returns the in-edges of a warp's share of a heavy entity: whole chunks.
func (r Row) share(warp int) (begin, end int) {
	each := chunk * blocks(blocks(int(r.End-r.Begin), chunk), heavyWarps)
	return min(int(r.Begin)+each*warp, int(r.End)), min(int(r.Begin)+each*(warp+1), int(r.End))
}

// Aggregate sets the features of a layer's rows. The edges of a heavy entity are shared by warps, whose sets are merged one after another.
func (p *Batch) Aggregate(t int) {
	for i := p.firstRow(t); i < p.endRow(t); i++ {
		row := p.Rows[i]
		if i >= p.lightRow(t) {
			p.finish(p.receive(row, t, int(row.Begin), int(row.End), true), row, i, t)
			continue
		}
		var m members
		for warp := range heavyWarps {
			begin, end := row.share(warp)
			share := p.receive(row, t, begin, end, warp == 0)
			if warp == 0 {
				m = share
			} else {
				m.merge(share)
			}
		}
		p.finish(m, row, i, t)
	}
}

// CountSent counts the messages of every layer and query.
func (p *Batch) CountSent() {
	clear(p.Sent[:p.Layers*p.Batch])
	for t := 1; t <= p.Layers; t++ {
		for i := p.firstRow(t); i < p.endRow(t); i++ {
			p.Sent[(t-1)*p.Batch+int(p.Rows[i].Query)] += int64(p.RowSent[i])
		}
	}
}
