package kernel

import "math"

// exact computes an aggregation in float64: it lists every receiver's set member by member and derives
// everything from the list. It shares no code with the variants. The same type holds gradients.
type exact struct {
	r                                    *Receivers // shapes, offsets and options
	minus                                float64    // -1; 1 in sums of sizes
	states                               []float64
	relations, previous, initial, degree []float64
}

func widen(x []float32) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func newExact(r *Receivers) *exact {
	return &exact{r: r, minus: -1, states: widen(r.States), relations: widen(r.RelationEmbeddings), previous: widen(r.Previous), initial: widen(r.Initial),
		degree: widen(r.DegreeMessage)}
}

// zeros returns a zero gradient of e's shape.
func (e *exact) zeros() *exact {
	like := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		return make([]float64, len(x))
	}
	return &exact{r: e.r, states: like(e.states), relations: like(e.relations), previous: like(e.previous), initial: like(e.initial), degree: like(e.degree)}
}

// member is one vector of a receiver's set. If extreme is set, only max and min see it. give adds the
// member's gradient to the tables that it comes from.
type member struct {
	values  []float64
	count   float64
	extreme bool
	give    func(gradient []float64, into *exact)
}

func plus(into, what []float64) {
	for j, v := range what {
		into[j] += v
	}
}

// members lists the set of the receiver in row i, in the order of ties.
func (e *exact) members(i int) []member {
	r, d := e.r, e.r.Dim
	nothing := func([]float64, *exact) {}
	var out []member
	if r.Initial == nil {
		out = append(out, member{make([]float64, d), 1, false, nothing})
	} else {
		out = append(out, member{e.initial, 1, false, func(g []float64, into *exact) { plus(into.initial, g) }})
		if r.EmptyMessages {
			out = append(out, member{make([]float64, d), 0, true, nothing})
		}
	}
	if r.DegreeMessage != nil && r.Copies[i] > 0 {
		out = append(out, member{e.degree, float64(r.Copies[i]), false, func(g []float64, into *exact) { plus(into.degree, g) }})
	}
	for at := r.Senders.Offsets[3*i]; at < r.Senders.Offsets[3*i+r.Kinds]; at++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[at]))*d, int(r.Senders.Relations[at])*d
		x, w := e.states[u:u+d], e.relations[q:q+d]
		out = append(out, member{message64(r.Message, x, w), 1, false, func(g []float64, into *exact) {
			gx, gw := into.states[u:u+d], into.relations[q:q+d]
			messageGradient64(r.Message, e.minus, g, x, w, gx, gw)
		}})
	}
	return out
}

func message64(kind Message, x, w []float64) []float64 {
	d := len(x)
	m := make([]float64, d)
	for j := range m {
		switch {
		case kind == DistMult:
			m[j] = x[j] * w[j]
		case kind == TransE:
			m[j] = x[j] + w[j]
		case j < d/2:
			m[j] = x[j]*w[j] - x[j+d/2]*w[j+d/2]
		case j < d/2*2:
			m[j] = x[j-d/2]*w[j] + x[j]*w[j-d/2]
		}
	}
	return m
}

// messageGradient64 adds the gradient of a message. minus is -1, or 1 where sizes are added.
func messageGradient64(kind Message, minus float64, g, x, w, gx, gw []float64) {
	d := len(x)
	for j := range g {
		switch {
		case kind == DistMult:
			gx[j] += g[j] * w[j]
			gw[j] += g[j] * x[j]
		case kind == TransE:
			gx[j] += g[j]
			gw[j] += g[j]
		case j < d/2: // by the real part
			gx[j] += g[j] * w[j]
			gx[j+d/2] += minus * g[j] * w[j+d/2]
			gw[j] += g[j] * x[j]
			gw[j+d/2] += minus * g[j] * x[j+d/2]
		case j < d/2*2: // by the imaginary part
			gx[j-d/2] += g[j] * w[j]
			gx[j] += g[j] * w[j-d/2]
			gw[j] += g[j] * x[j-d/2]
			gw[j-d/2] += g[j] * x[j]
		}
	}
}

// moments are those of one dimension of a set.
type moments struct {
	mean, meanSquare, variance, deviation, high, low float64
	first, last                                      int // members that attain high and low
}

func momentsOf(set []member, j int, divisor float64) moments {
	m := moments{high: math.Inf(-1), low: math.Inf(1)}
	sum, squares := 0.0, 0.0
	for k, s := range set {
		v := s.values[j]
		if !s.extreme {
			sum += s.count * v
			squares += s.count * v * v
		}
		if v > m.high {
			m.first = k
		}
		if v < m.low {
			m.last = k
		}
		m.high, m.low = max(m.high, v), min(m.low, v) // NaN where one is, unlike math.Max
	}
	m.mean, m.meanSquare = sum*divisor, squares*divisor
	m.variance = m.meanSquare - m.mean*m.mean
	m.deviation = math.Sqrt(math.Max(m.variance, smallestVariance))
	return m
}

// features returns what Aggregate should write and the tolerance of each entry: the rounding error of a sum is
// proportional to its terms' sizes, and that of a deviation to that of the mean square over twice itself.
func (e *exact) features() (out, tolerance []float64) {
	r, d := e.r, e.r.Dim
	const unit = 4e-6
	out, tolerance = make([]float64, r.Count()*r.Width()), make([]float64, r.Count()*r.Width())
	for n, i := range r.Rows {
		set, at := e.members(int(i)), int(r.FeatureRows[n])*r.Width()
		row, tol := out[at:at+r.Width()], tolerance[at:at+r.Width()]
		if e.previous != nil {
			copy(row, e.previous[int(i)*d:int(i+1)*d])
		}
		divisor := float64(r.MeanFactor[i])
		for j := range d {
			size := 0.0
			for _, s := range set {
				if !s.extreme {
					size += s.count * math.Abs(s.values[j])
				}
			}
			m := momentsOf(set, j, divisor)
			switch r.Reduction {
			case PNA:
				row[d+j], row[2*d+j], row[3*d+j], row[4*d+j] = m.mean, m.high, m.low, m.deviation
				tol[d+j], tol[4*d+j] = unit*size*divisor, unit*m.meanSquare/m.deviation
				tol[2*d+j], tol[3*d+j] = unit, unit // RotatE's messages are rounded
			case Sum:
				row[d+j], tol[d+j] = m.mean/divisor, unit*size
			case Mean:
				row[d+j], tol[d+j] = m.mean, unit*size
			case Max:
				row[d+j], tol[d+j] = m.high, unit
			}
		}
	}
	return out, tolerance
}

// backward returns what AggregateBackward should add, and the sizes of the terms.
func (e *exact) backward(gradient []float64) (sum, size *exact) {
	r, d := e.r, e.r.Dim
	sum, size = e.zeros(), e.zeros()
	absolute := newExactAbs(e)
	for n := range r.Rows {
		i, at := int(r.Rows[n]), int(r.FeatureRows[n])
		set := e.members(i)
		sizes := absolute.members(i)
		row := gradient[at*r.Width() : (at+1)*r.Width()]
		if sum.previous != nil {
			plus(sum.previous[i*d:(i+1)*d], row[:d])
		}
		by, bySize := make([][]float64, len(set)), make([][]float64, len(set))
		for k := range set {
			by[k], bySize[k] = make([]float64, d), make([]float64, d)
		}
		for j := range d {
			m := momentsOf(set, j, float64(r.MeanFactor[i]))
			for k, s := range set {
				by[k][j], bySize[k][j] = memberGradient(r, row, j, k, s, m, float64(r.MeanFactor[i]))
			}
		}
		for k := range set {
			set[k].give(by[k], sum)
			sizes[k].give(bySize[k], size)
		}
	}
	return sum, size
}

// memberGradient returns the derivative with respect to entry j of member k, and the size of its terms.
func memberGradient(r *Receivers, row []float64, j, k int, s member, m moments, divisor float64) (by, size float64) {
	d := r.Dim
	switch r.Reduction {
	case Sum:
		by = row[d+j] * s.count
	case Mean:
		by = row[d+j] * s.count * divisor
	case Max:
		if k == m.first {
			by = row[d+j]
		}
	case PNA:
		if !s.extreme {
			by = row[d+j] * divisor * s.count
			size = math.Abs(by)
			if m.variance > smallestVariance {
				slope := row[4*d+j] / m.deviation * divisor * s.count
				by += slope * (s.values[j] - m.mean)
				size += math.Abs(slope) * (math.Abs(s.values[j]) + math.Abs(m.mean)) * (1 + m.meanSquare/m.variance)
			}
		}
		if k == m.first {
			by += row[2*d+j]
			size += math.Abs(row[2*d+j])
		}
		if k == m.last {
			by += row[3*d+j]
			size += math.Abs(row[3*d+j])
		}
		return by, size
	}
	return by, math.Abs(by)
}

// newExactAbs returns e with absolute values, with which sizes are added.
func newExactAbs(e *exact) *exact {
	abs := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = math.Abs(v)
		}
		return out
	}
	return &exact{r: e.r, minus: 1, states: abs(e.states), relations: abs(e.relations), previous: abs(e.previous), initial: abs(e.initial),
		degree: abs(e.degree)}
}
