package inference

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
	"tagnet/model/weights/parameters"
)

// mlp is an MLP 2 dim -> 2 dim -> 1 over [x, x_q], a state and a query's embedding. Its first layer is transposed
// and split, since the product with x_q is the same for all entities of a query.
type mlp struct {
	state  []float32 // [dim, 2 dim]
	query  []float32 // [dim, 2 dim]
	bias   []float32 // [2 dim]
	output []float32 // [2 dim]
	last   float32
}

// newMLP reads an MLP of two layers. The first layer is split into what multiplies the state and what multiplies the
// query, both transposed.
func newMLP(name string, d int, p *parameters.Set[float32]) *mlp {
	weight := p.Data(name + ".0.weight") // [2 dim, 2 dim]
	m := &mlp{
		state: make([]float32, 2*d*d), query: make([]float32, 2*d*d),
		bias: p.Data(name + ".0.bias"), output: p.Data(name + ".2.weight"), last: p.Data(name + ".2.bias")[0],
	}
	for i := range 2 * d {
		for j := range d {
			m.state[j*2*d+i] = weight[i*2*d+j]
			m.query[j*2*d+i] = weight[i*2*d+d+j]
		}
	}
	return m
}

// queryMLP is an mlp with the first layer's values for one query's embedding.
type queryMLP struct {
	*mlp
	shift []float32 // [2 dim]
}

// prepare computes the values for an embedding, [dim].
func (l *queryMLP) prepare(k kernel.Multiplier, m *mlp, embedding []float32) {
	l.mlp = m
	l.shift = append(l.shift[:0], m.bias...)
	k.Multiply(l.shift, embedding, m.query, kernel.Product{Rows: 1, Inner: len(embedding), Columns: len(m.bias), Add: true})
}

// rows sets values, [n], to the MLP of states, [n, dim]. It returns hidden, a buffer that may have grown.
func (l *queryMLP) rows(k kernel.Multiplier, states, values, hidden []float32) []float32 {
	n, width := len(values), len(l.shift)
	hidden = parallel.Resize(hidden, n*width)
	for rest := hidden; len(rest) > 0; {
		rest = rest[copy(rest, l.shift):]
	}
	k.Multiply(hidden, states, l.state, kernel.Product{Rows: n, Inner: width / 2, Columns: width, Add: true})
	k.Score(values, hidden, l.output, l.last)
	return hidden
}
