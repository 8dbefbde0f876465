// Package quickstart runs the other pipelines in one process, on a made-up graph, and does nothing that the single
// commands cannot do.
//
// Pipeline runs them in the order in which a user would: sample graph, distances, a small model, its evaluation,
// message counts and the report. Playground runs some of these steps quietly, and the foundation model before its
// training, and then serve on the trained model: from nothing to a page on which a person asks.
package quickstart
