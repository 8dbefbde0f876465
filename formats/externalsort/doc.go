// Package externalsort sorts more than memory holds: what fits is sorted and written to a file, a run, and
// runs are merged as they are read. Rows of ids and names have runs of their own kind.
//
// Only the URLs of runs travel through a pipeline. The files lie in a folder below the one that is
// being made, and go with it if that is never completed.
package externalsort
