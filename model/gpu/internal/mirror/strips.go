package mirror

const (
	stripRows = 64  // rows of equal degree that linear maps take together
	maxSpans  = 512 // of a layer, beside one for each degree and end
)

// ends returns the number of rows of a layer that may have another degree than their entity has in the whole graph, where that matters.
func (p *Batch) ends() int {
	if p.Reduction == pna {
		return 2 * p.Batch
	}
	return 0
}

// end returns the number of such a row among them, or -1.
func (p *Batch) end(b int, v int32) int {
	switch q := p.Queries[b]; {
	case p.Reduction != pna:
	case v == q.Source:
		if q.SourceDrop > 0 {
			return 2 * b
		}
	case v == q.Answer && q.AnswerDrop > 0:
		return 2*b + 1
	}
	return -1
}

// placesOf returns the number of rows of a layer before each place, stripsOf the first strip of each degree, and spans the layer's spans.
func (p *Batch) placesOf(t int) []int32 { return p.Places[(t-1)*(p.Entities+1):][:p.Entities+1] }
func (p *Batch) stripsOf(t int) []int32 { return p.StripBegin[(t-1)*(p.Degrees+1):][:p.Degrees+1] }
func (p *Batch) spans(t int) []Span     { return p.Spans[(t-1)*p.SpanStride:][:p.SpanCounts[t-1]] }

// strip returns the rows of a layer from a strip on.
func (p *Batch) strip(t, strip int) []int32 {
	return p.Strips[((t-1)*p.StripStride+strip)*stripRows:]
}

// StripsCount counts the rows of an entity in each layer.
func (p *Batch) StripsCount() {
	for t := 1; t <= p.Layers; t++ {
		for place, v := range p.ByDegree[:p.Entities] {
			rows := int32(0)
			for b := range p.Batch {
				if p.active(t, b, v) && p.end(b, v) < 0 {
					rows++
				}
			}
			p.placesOf(t)[place] = rows
		}
	}
}

// StripsStart sets where the strips of each degree begin, and the spans.
func (p *Batch) StripsStart() {
	for t := 1; t <= p.Layers; t++ {
		places, begin, rows := p.placesOf(t), p.stripsOf(t), make([]int, p.Degrees)
		next := int32(0)
		for place, degree := range p.DegreeOf[:p.Entities] {
			rows[degree] += int(places[place])
			places[place], next = next, next+places[place]
		}
		places[p.Entities] = next
		strips := 0
		for degree, n := range rows {
			begin[degree] = int32(strips)
			strips += blocks(n, stripRows)
		}
		begin[p.Degrees] = int32(strips)
		if p.Training {
			p.setSpans(t, rows, max(1, blocks(strips, maxSpans)))
		}
	}
}

// setSpans sets the spans of a layer, of a number of strips each, from the rows of each degree.
func (p *Batch) setSpans(t int, rows []int, size int) {
	all, n := p.Spans[(t-1)*p.SpanStride:], 0
	for degree, left := range rows {
		for strip := int(p.stripsOf(t)[degree]); left > 0; strip, left = strip+size, left-size*stripRows {
			all[n] = Span{int32(strip), int32(min(left, size*stripRows))}
			n++
		}
	}
	for i := range p.ends() {
		all[n+i] = Span{p.stripsOf(t)[p.Degrees] + int32(i), 1}
	}
	p.SpanCounts[t-1] = int32(n + p.ends())
}

// StripsWrite writes the rows of strips.
func (p *Batch) StripsWrite() {
	for t := 1; t <= p.Layers; t++ {
		begin, written := p.stripsOf(t), make([]int, p.Degrees)
		for place, v := range p.ByDegree[:p.Entities] {
			degree := p.DegreeOf[place]
			for b := range p.Batch {
				if !p.active(t, b, v) {
					continue
				}
				number := int32(p.rowNumber(t, b, v))
				if end := p.end(b, v); end >= 0 {
					p.strip(t, int(begin[p.Degrees])+end)[0] = number
					continue
				}
				p.strip(t, int(begin[degree]))[written[degree]] = number
				written[degree]++
			}
		}
	}
}
