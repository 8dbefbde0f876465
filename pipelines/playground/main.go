// Playground trains a model on a small sample graph and serves it on a page.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/quickstart"
)

func main() { command.Main(quickstart.Playground()) }
