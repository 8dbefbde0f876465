// Score ranks the answers of a split's queries, or answers a user's own queries.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/score"
)

func main() { command.Main(score.Pipeline()) }
