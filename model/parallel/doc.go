// Package parallel runs the loops of the model and of the stages on several goroutines, and has what makes that cheap
// and its results equal: buffers that a worker reuses from one query to the next, so that it allocates nothing once it
// has seen its largest, and a seed for each element from --seed and the element's key, so that a result does not depend
// on the order of elements, on sharding, or on the number of workers.
package parallel
