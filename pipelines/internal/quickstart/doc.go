// Package quickstart runs all other pipelines in one process, in the order in which a user
// would: the sample, its distances, a small model, its answers, what its messages cost, and
// the page about all of it. It does nothing that the single commands cannot do.
package quickstart
