// Package budget estimates the memory of a worker process and divides a budget (--memory) by the estimate. There is one estimate,
// computed from sizes alone, before anything is built or deleted:
//
//	Base + 9/8 (what is held once + threads x states)
//
// Base is for the program, Go and Beam. Held once are the graph, parameters and rows of results; a thread has the states of a query's
// propagation, or of a search. The eighth is for garbage: Go's limit (see Limit) keeps it small where the budget is.
//
// The least budget that a command accepts, as its refusal of --memory 1 names it, and the peak of resident memory in a run with that, in
// MiB, on two cores of an EPYC (Zen 4) with two threads:
//
//	TABLE
package budget
