// Package vocabulary is the stage that gives names dense ids: the position of each name among all names
// of its kind in byte order, so that ids depend on nothing but the names.
//
// The distinct names of each chunk of the texts are sorted into spill files, which are merged into the
// vocabulary files. Workers load the ids (package model/graph/ids) once per process, without the names.
package vocabulary
