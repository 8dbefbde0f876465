// Quickstart runs the commands from preprocess to report on a small sample graph whose rules are known.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/quickstart"
)

func main() { command.Main(quickstart.Pipeline()) }
