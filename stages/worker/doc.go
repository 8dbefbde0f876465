// Package worker holds what the DoFns of one worker process share: read-only data that is too
// large to load for each element (graphs, vocabularies, models), values that the process that
// starts a Beam pipeline hands to DoFns which run in the same process, and its threads.
//
// Cached values live as long as the process, so that the steps of a pipeline, and the pipelines
// that follow one another in a process, load each of them once. The cache holds one version of
// each (kind, URL): loading another version drops the earlier one first. Values that serve one
// pipeline alone are dropped with Forget or Discard when it ends. Whoever estimates the memory of a process
// counts them once.
package worker
