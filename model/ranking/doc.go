// Package ranking turns scores into what a link prediction is judged by: the filtered rank
// of the answer under three ways of counting ties, and the usual metrics over many ranks.
// It stands behind the scoring and knows nothing of how scores come about.
package ranking
