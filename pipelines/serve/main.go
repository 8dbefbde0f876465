// Serve answers queries over HTTP with a trained model, and has a page on which to ask them.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/serve"
)

func main() { command.Main(serve.Pipeline()) }
