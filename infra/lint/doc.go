// Package lint holds the rules of this repository as tests: the direction of imports, which packages
// may end the process, documentation, vocabulary, and the files of the tree. It exports nothing;
// go test ./infra/lint checks the source on disk.
package lint
