package inference

import (
	"math"

	"tagnet/model/parallel"
)

// attend returns the final states of n entities, [n, dim]: the sum of their states by age, weighted by the softmax
// of the attention's logits over the temperature (the paper's equations 10 and 11).
func (w *Worker) attend(states [][]float32, n int) []float32 {
	d, temperature := w.scorer.configuration.Dim, w.scorer.configuration.AttentionTemperature
	for len(w.logits) < len(states) {
		w.logits = append(w.logits, nil)
	}
	for age, table := range states {
		w.logits[age] = parallel.Resize(w.logits[age], n)
		w.hidden = w.attention.rows(w.scorer.kernel, table, w.logits[age], w.hidden)
	}
	w.final = parallel.Resize(w.final, n*d)
	clear(w.final)
	for i := range n {
		largest := math.Inf(-1)
		for age := range states {
			largest = math.Max(largest, float64(w.logits[age][i]))
		}
		sum := 0.0
		for age := range states {
			sum += math.Exp((float64(w.logits[age][i]) - largest) / temperature)
		}
		row := w.final[i*d : (i+1)*d]
		for age, table := range states {
			weight := float32(math.Exp((float64(w.logits[age][i])-largest)/temperature) / sum)
			for j, value := range table[i*d : (i+1)*d] {
				row[j] += weight * value
			}
		}
	}
	return w.final
}
