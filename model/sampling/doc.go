// Package sampling draws what training needs at random: the negatives of a query. Each draw
// derives from a seed and the query's own key, so that neither the order of queries nor the
// number of workers changes it.
package sampling
