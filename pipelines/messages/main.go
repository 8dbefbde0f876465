// Messages counts what propagation sends, and what it would send without truncation.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/study"
)

func main() { command.Main(study.Messages()) }
