package scoring_test

import (
	"os"
	"testing"

	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// line is a command line.
type line struct {
	pipeline command.Pipeline
	flags    []string
}

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, ask.Pipeline())) }
