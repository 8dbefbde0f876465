// Package vocabulary is the stage that gives names dense ids: the position of each name among
// all names of its kind in byte order, so that ids depend on nothing but the names.
//
// Names are gathered part by part of the texts into sorted runs, and merged into a file, of which
// only the URI travels on: workers load the ids once per process, without the names.
package vocabulary
