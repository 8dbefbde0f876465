// Ask answers queries by name with a trained model, and scores triples.
package main

import (
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
)

func main() { command.Main(ask.Pipeline()) }
