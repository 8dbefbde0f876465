package study

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/study"
)

func TestMessagesGraph(t *testing.T) {
	command.InitBeam()
	p := BuildMessages([]int32{0, 1, 2}, 3, study.CountParams{Graph: "mem://graph", Split: "test", Folder: "mem://messages"})
	pipelinetest.Golden(t, "messages", pipelinetest.Graph(t, p))
}
