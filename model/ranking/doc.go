// Package ranking turns the scores of all entities into results: the k best candidates,
// the filtered rank of an answer with ties counted in three ways (rank.go), and the metrics of many ranks. It
// knows nothing of models.
package ranking
