package ask

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/answer/workload"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	for name, given := range map[string]struct {
		kind  workload.TableKind
		stage func(beam.Scope, predict.AskParams) beam.PCollection
	}{"queries": {workload.GivenQueries, predict.Answers}, "triples": {workload.GivenTriples, predict.Triples}} {
		p := predict.AskParams{Folder: "mem://answers", Params: predict.Params{Model: predict.WorkerModel{Checkpoint: "epoch-001"}}}
		p.Queries = workload.Params{Queries: "mem://queries.arrow", TableKind: given.kind,
			QueriedGraph: workload.QueriedGraph{Graph: "mem://graph", Split: "test"}}
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, command.BeamPipeline(given.stage, p)))
	}
}

// TestDryRun checks that --dry_run and --plan print the job.
func TestDryRun(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	queries, triples := scoringtest.File(t, "queries.tsv", "e000\tnext\n"), scoringtest.File(t, "triples.tsv", "e000\tnext\te001\n")
	pipelinetest.DryRun(t, Pipeline(), w, "/predict.answersFn", "--queries", queries)
	pipelinetest.DryRun(t, Pipeline(), w, "/predict.answersFn", "--relation", "next", "--explain") // one job
	pipelinetest.DryRun(t, Pipeline(), w, "/predict.triplesFn", "--queries", triples)
	pipelinetest.Plan(t, Pipeline(), w, "step       predict.triples: ", "--queries", triples)
	pipelinetest.Plan(t, Pipeline(), w, "step       predict.answers: 10 answers to explain in 1 part", "--queries", queries, "--explain")
}
