// Quickstart runs the whole way once, on a small knowledge graph whose rules are known.
package main

import (
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/quickstart"
)

func main() { command.Main(quickstart.Pipeline()) }
