// Command experiments is tagnet experiments with a tagnet that it builds from the repository.
package main

import (
	"os"

	"tagnet/infra/experiments/runs"
)

func main() {
	os.Exit(runs.Program{Words: "go run ./infra/experiments"}.Main(os.Args[1:]))
}
