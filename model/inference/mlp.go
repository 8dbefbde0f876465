package inference

import (
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// mlp is an MLP 2 dim -> 2 dim -> 1 over [x, x_q], a state and a query's embedding, or 3 dim -> 2 dim -> 1 over [x, x_q, y] with a
// state y of incidences. Its first layer is transposed
// and split, since the products with x_q and y are the same for several queries or entities.
type mlp struct {
	state     []float32 // [dim, 2 dim], as the next two
	query     []float32
	incidence []float32 // or nil
	bias      []float32 // [2 dim]
	output    []float32 // [2 dim]
	last      float32
}

func newMLP(name string, d int, p *parameters.Set[float32]) *mlp {
	m := &mlp{bias: p.Data(name + ".0.bias"), output: p.Data(name + ".2.weight"), last: p.Data(name + ".2.bias")[0]}
	weight := p.Data(name + ".0.weight") // [2 dim, 2 dim or 3 dim]
	columns := len(weight) / (2 * d)
	for first, part := range []*[]float32{&m.state, &m.query, &m.incidence}[:columns/d] {
		*part = make([]float32, 2*d*d)
		for i := range 2 * d {
			for j := range d {
				(*part)[j*2*d+i] = weight[i*columns+first*d+j]
			}
		}
	}
	return m
}

// queryMLP is an mlp with the first layer's values for one query's embedding.
type queryMLP struct {
	*mlp
	shift []float32 // [2 dim]
	added *added    // of incidences, or nil
}

// prepare computes the values for an embedding, [dim].
func (l *queryMLP) prepare(k kernel.Multiplier, m *mlp, embedding []float32) {
	l.mlp = m
	l.shift = append(l.shift[:0], m.bias...)
	k.Multiply(l.shift, embedding, m.query, 1, len(embedding), len(m.bias), true)
}

// rows sets values, [n], to the MLP of states, [n, dim], of n entities. It returns hidden, a buffer that may have grown.
func (l *queryMLP) rows(k kernel.Kernel, entities []int32, states, values, hidden []float32) []float32 {
	n, width := len(values), len(l.shift)
	hidden = grow(hidden, n*width)
	for rest := hidden; len(rest) > 0; {
		rest = rest[copy(rest, l.shift):]
	}
	if l.added != nil {
		for i, o := range entities {
			k.Add(hidden[i*width:(i+1)*width], l.added.row(o, width))
		}
	}
	k.Multiply(hidden, states, l.state, n, width/2, width, true)
	k.Score(values, hidden, l.output, l.last)
	return hidden
}
