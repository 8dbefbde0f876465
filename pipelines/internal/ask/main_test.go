package ask

import (
	"os"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }
