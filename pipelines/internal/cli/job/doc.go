// Package job submits Beam pipelines to a job server (Flink's, Spark's, or any other that
// speaks Beam's job API) and follows them to their end: a job's id, its states, messages and
// metrics, how to cancel it, and what its failure means for the user. Beam's own runner for job
// servers hides all of these.
//
// Beam's local runner and Dataflow are not started here: package command leaves them to Beam.
package job
