package prior

import (
	"math"

	"tagnet/model/graph"
	"tagnet/model/incidence"
)

// Counts are what the training facts say of relations.
type Counts struct {
	// Lambda, [2R, 2R], has a row for each relation of a query, Constant, [2R], an entry.
	Lambda, Constant []float32
}

// MostRelations is the most relations, inverse ones included, that are counted: Lambda takes 64 MiB for them.
const MostRelations = 4096

const (
	alpha   = 5        // facts that the share of all entities counts as
	largest = 1 - 1e-4 // share
)

// Count counts the facts of a training graph.
func Count(g *graph.Graph) Counts {
	n, list := g.RelationCount(), incidence.Of(g)
	having, asked, together := make([]float64, n), make([]float64, n), make([]float64, n*n)
	edges := make([]int, n) // of an entity, by the relation with which they leave it
	for o := range int32(g.Entities) {
		own := list.Of(o)
		for _, r := range own {
			having[r]++
			edges[r] = 0
		}
		senders, entering := g.In(o)
		for _, q := range entering {
			edges[g.Inverse(q)]++
		}
		for i, q := range entering { // o answers a query with q
			asked[q]++
			row := together[int(q)*n:]
			for _, r := range own {
				ofFact := r == g.Inverse(q) || r == q && senders[i] == o // a loop leaves with both
				if !ofFact || edges[r] > 1 {
					row[r]++
				}
			}
		}
	}
	c := Counts{Lambda: make([]float32, n*n), Constant: make([]float32, n)}
	for q := range n {
		sum := 0.0
		for r := range n {
			p := (having[r] + 0.5) / float64(g.Entities+1)
			a := min(largest, (together[q*n+r]+alpha*p)/(asked[q]+alpha))
			p = min(largest, p)
			c.Lambda[q*n+r] = float32(logit(a) - logit(p))
			sum += math.Log1p(-a) - math.Log1p(-p)
		}
		c.Constant[q] = float32(sum)
	}
	return c
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// Over returns the counts over the relations of another graph, whose base relations are rows of those that were counted.
func (c Counts) Over(rows []int) Counts {
	counted, n := len(c.Constant), 2*len(rows)
	from := make([]int, 0, n)
	for _, inverse := range []int{0, counted / 2} {
		for _, row := range rows {
			from = append(from, row+inverse)
		}
	}
	out := Counts{Lambda: make([]float32, 0, n*n), Constant: make([]float32, n)}
	for q, row := range from {
		out.Constant[q] = c.Constant[row]
		for _, column := range from {
			out.Lambda = append(out.Lambda, c.Lambda[row*counted+column])
		}
	}
	return out
}
