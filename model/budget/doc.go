// Package budget divides the memory of a worker process: what takes it whatever is done, what
// each thread takes, and what is left for bundles of queries. The parts themselves are stated
// where they are held, by functions named Memory.
package budget
