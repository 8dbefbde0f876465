// Package buffer resizes slices that are reused from one query to the next, so that a worker
// allocates nothing once it has seen its largest query.
package buffer
