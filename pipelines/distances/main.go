// Distances searches from the sources of a split's queries.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/study"
)

func main() { command.Main(study.Distances()) }
