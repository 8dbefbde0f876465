// Bundle finds the part of the graph that each query of a split propagates through.
package main

import (
	"tagnet/pipelines/internal/bundle"
	"tagnet/pipelines/internal/cli/command"
)

func main() { command.Main(bundle.Pipeline()) }
