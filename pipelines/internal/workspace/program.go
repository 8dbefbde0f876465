package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"tagnet/formats/names"
)

// program returns the words that start the pipeline of a name in the way in which this process was
// started: go run, a program that go build wrote beside this one, or a subcommand of tagnet.
func program(started, name string) string {
	started, base := filepath.ToSlash(started), strings.TrimSuffix(filepath.Base(started), ".exe")
	switch {
	case strings.Contains(started, "/go-build") || strings.HasSuffix(base, ".test"): // go run or go test
		return "go run ./pipelines/" + name
	case base == "tagnet":
		return names.Quote(started) + " " + name
	}
	return names.Quote(strings.TrimSuffix(started, filepath.Base(started)) + name)
}

// startedAs is the path by which this process was started.
var startedAs = os.Args[0]
