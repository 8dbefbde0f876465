// Review asks a person which facts of a list are true.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/review"
)

func main() { command.Main(review.Pipeline()) }
