// Package multisource searches from up to 64 sources at once, a bit of a machine word each:
// what one search reads of the graph serves all of them. model/search is the same search from
// one source, with edges removed.
package multisource
