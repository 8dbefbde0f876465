// Package serve is the command that answers queries over HTTP: JSON for programs, and a page on which a person asks and
// looks through the list of new facts. It loads a workspace's graph and model, through package model, and writes
// probabilities (fitting), and verdicts where people may judge.
//
// A request passes through these, and each of them is bounded:
//
//	connections   their number is bounded; for one more, the one which has waited longest for a request is closed
//	limits        headers, body, names, queries and answers of a request have maximal sizes
//	admission     a number of queries may be under way; a request beyond it gets status 429 at once
//	pool          requests take turns at the threads; waiting queries of a source are answered together (answer.Pool)
//	deadline      a request that takes too long gets status 503, and its computation ends
//
// A reload (reloader) opens a new graph and model beside the current ones: requests stay with the
// ones that they came to.
//
// Probabilities that no file has yet are fitted (fitting) beside the answers, which have none until then.
//
// The first interrupt stops listening and lets requests that are under way finish; the second one ends the process.
package serve
