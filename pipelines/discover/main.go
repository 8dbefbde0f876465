// Discover lists the new facts of a graph, those that a trained model finds the most probable first.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
)

func main() { command.Main(discover.Pipeline()) }
