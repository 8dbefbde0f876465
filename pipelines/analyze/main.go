// Analyze says what a data set is like and what its messages would cost.
package main

import (
	"tagnet/pipelines/internal/analyze"
	"tagnet/pipelines/internal/command"
)

func main() { command.Main(analyze.Pipeline()) }
