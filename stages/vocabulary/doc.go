// Package vocabulary is the stage that gives names dense ids: the position of each name among
// all names of its kind in byte order, so that ids depend on nothing but the names.
//
// The names are written to a file and only its URI travels on: workers load the file once per
// process.
package vocabulary
