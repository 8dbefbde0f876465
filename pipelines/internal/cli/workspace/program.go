package workspace

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tagnet/formats/names"
)

// compiled matches the programs that go run and go test start, from a temporary folder or from Go's build cache.
var compiled = regexp.MustCompile(`/go-build|/[0-9a-f]{2}/[0-9a-f]{64}-d/|\.test$`)

// program returns the words that start the pipeline of a name in the way in which this process was
// started: go run, a program that go build wrote beside this one, or a command of tagnet.
func program(started string, together bool, name string) string {
	started = filepath.ToSlash(started)
	switch {
	case compiled.MatchString(strings.TrimSuffix(started, ".exe")) && together:
		return "go run ./pipelines/tagnet " + name
	case compiled.MatchString(strings.TrimSuffix(started, ".exe")):
		return "go run ./pipelines/" + name
	case together:
		return names.Quote(started) + " " + name
	}
	return names.Quote(strings.TrimSuffix(started, filepath.Base(started)) + name)
}

var (
	startedAs  = os.Args[0] // the path by which this process was started
	oneProgram bool         // it is the program of all pipelines
)

// OneProgram lets messages recommend command lines of a program of all pipelines, whose first
// argument names a pipeline.
func OneProgram() { oneProgram = true }
