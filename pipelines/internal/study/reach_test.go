package study

import (
	"fmt"
	"path/filepath"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/score"
	"tagnet/stages/encode"
	"tagnet/stages/stagetest"
)

// TestReachIsScores compares the messages with those that scoring a model sends, which propagates the queries of a
// source and a relation once.
func TestReachIsScores(t *testing.T) {
	workspace := trained(t, configuration.PolicyWindow)
	var sent []int64
	for _, most := range []int{1, 5, 12, 1000} {
		pipelinetest.Succeed(t, Messages(), "--workspace", workspace, "--layers", "3", "--deltas", "1", "--reach", fmt.Sprint(most), "--force")
		rows := stagetest.Rows[parquet.MessageCount](t, filepath.Join(workspace, "runs/main/messages/test", counts.CountsTable))
		l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
		if err != nil {
			t.Fatal(err)
		}
		queries, err := l.Queries(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[string]map[int32]bool{} // the relations of the queries of each source
		for _, q := range queries {
			name := l.View("test").Entities[q.Source]
			if distinct[name] == nil {
				distinct[name] = map[int32]bool{}
			}
			distinct[name][q.Relation] = true
		}
		counted := int64(0)
		for _, r := range rows {
			counted += int64(len(distinct[r.Source])) * (r.Kept - r.KeptEmpty)
		}
		pipelinetest.Succeed(t, score.Pipeline(), "--workspace", workspace, "--top_k", "0", "--reach", fmt.Sprint(most), "--force")
		m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(workspace, "runs/main/evaluation/test", metrics.File))
		if err != nil {
			t.Fatal(err)
		}
		if counted != m.Messages {
			t.Errorf("--reach %d: %d messages are counted, %d are sent", most, counted, m.Messages)
		}
		sent = append(sent, counted)
	}
	if !(sent[0] < sent[1] && sent[1] < sent[2] && sent[2] < sent[3]) {
		t.Errorf("the messages are %v: the reaches differ in nothing", sent)
	}
}

func TestReachMistakes(t *testing.T) {
	workspace := trained(t, configuration.PolicyAStar)
	for says, arguments := range map[string][]string{
		"--reach is -1":            {"--reach", "-1"},
		"--reach is not for A*Net": {"--reach", "5", "--model", "best"},
	} {
		pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: command.ExitUsage, Says: []string{says}},
			append([]string{"--workspace", workspace}, arguments...)...)
	}
}
