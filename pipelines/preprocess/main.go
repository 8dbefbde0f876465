// Preprocess turns facts into the tables of a knowledge graph.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/preprocess"
)

func main() { command.Main(preprocess.Pipeline()) }
