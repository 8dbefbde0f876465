// Package lint holds the rules of this repository as tests: which way imports point, who may
// end the process, what is documented, and what a tree may contain. It exports nothing; `go
// test ./infra/lint` checks the source as it lies on disk.
package lint
