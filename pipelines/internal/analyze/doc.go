// Package analyze is the pipeline that analyses a data set as the paper does: degrees, how far
// answers are, what a window saves and what it prunes. It runs preprocess, distances, messages
// and report where they have not run yet, and puts what they found into analysis/.
package analyze
