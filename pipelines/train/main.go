// Train learns a model from the training facts of a graph.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/train"
)

func main() { command.Main(train.Pipeline()) }
