// Package ids gives names dense ids: the position of each name among all names of its kind in byte order, so that ids depend on
// nothing but the names. A Set collects and sorts names, a Map has the ids of a file of names without holding the names.
package ids
