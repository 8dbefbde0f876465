// Analyze says what a dataset is like and what its messages would cost.
package main

import (
	"tagnet/pipelines/internal/analyze"
	"tagnet/pipelines/internal/command"
)

func main() { command.Main(analyze.Pipeline()) }
