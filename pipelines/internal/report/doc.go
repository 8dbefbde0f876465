// Package report turns a workspace into one page that a person reads: what the data are, how
// the model learned, how well it answers, and what its messages cost. It is the last
// pipeline: it reads what all others wrote, needs none of it to be there, and says which
// command makes what is missing.
package report
