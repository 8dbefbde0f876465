// Package inference answers queries with a trained model: one propagation for each, and the
// score of every entity. It is the head of package head without what training needs, done
// by the kernels over many entities at once; the two agree, and a test holds them together.
package inference
