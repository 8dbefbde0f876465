// Package budget estimates the memory of a worker process and divides a budget (--memory) by the estimate. There is one
// estimate, computed from sizes alone, before anything is built or deleted:
//
//	Base + 9/8 (what is held once + threads x states)
//
// Base is for the program, Go and Beam. Held once are the graph, parameters and rows of results; a thread has the
// states of a query's propagation, or of a search. The eighth is for garbage: Go's limit (see Limit) keeps it small
// where the budget is.
//
// The least budget that a command accepts, as its refusal of --memory 1 names it, and the peak of resident memory in a
// run with that, in MiB, on two cores of an EPYC (Zen 4) with two threads:
//
//	command                                     fb237_v1    FB15k-237
//	                                            least peak  least peak
//	preprocess                                  143  111   143  134
//	train, 200 queries and the fit              234  225   429  393
//	score --split valid --limit 400             160  151   258  235
//	distances --split valid                     128  119   158  155
//	messages --split valid                      140  126   169  151
//	bundle --split valid --reach 500            182  174   395  347
//	serve --graph train, 24 paths, 6 clients    183  123   447  250
//
// Up to 85 MiB of a peak are pages of the program's file.
package budget
