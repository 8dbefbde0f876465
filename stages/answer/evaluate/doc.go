// Package evaluate is the stage that scores the queries of a split and writes ranks, best candidates and metrics by package model/answer/evaluation.
//
// The worker that scores a shard of queries writes its part of each table, and only the counts of its ranks are sent on to be
// summed up: nothing that grows with the queries crosses a barrier.
package evaluate
