// Score evaluates a trained model: it ranks the answers of a split's queries.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/score"
)

func main() { command.Main(score.Pipeline()) }
