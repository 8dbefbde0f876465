// Playground trains a model on a small sample graph and serves it on a page.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/playground"
)

func main() { command.Main(playground.Pipeline()) }
