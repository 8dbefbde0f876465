// Package quickstart runs the other pipelines in one process, in the order in which a user would:
// sample graph, distances, a small model, its evaluation, message counts and the report. It does
// nothing that the single commands cannot do.
package quickstart
