// Report writes one page about all that a workspace holds.
package main

import (
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/report"
)

func main() { command.Main(report.Pipeline()) }
