// Package ranking turns the scores of all entities into results: the k best candidates, the filtered rank of an answer
// with ties counted in three ways (rank.go), the metrics of many ranks, and how much these would vary with other
// queries (bootstrap.go). It knows nothing of models.
package ranking
