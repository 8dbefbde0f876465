// Package benchmark measures commands of a list, one at a time: the time, the processor time and the largest resident memory of each.
package benchmark
