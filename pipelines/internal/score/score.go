package score

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/pretrained"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/scoring"
	"tagnet/stages/predict"
)

// recorded decides the content of an evaluation, besides the graph.
type recorded struct {
	workspace.Evaluated
	Split string `json:"split"`
	// Protocol is the value of --protocol, empty for the usual one, and Negatives the number of random
	// entities that it draws.
	Protocol  metrics.Protocol `json:"protocol,omitempty"`
	Negatives int              `json:"negatives,omitempty"`
	// Limit is the number of queries of a sample, 0 for all.
	Limit int64 `json:"limit,omitempty"`
}

type evaluating struct {
	*scoring.Run
	flags *flags
	// queries is the number of queries that are ranked, distinct how many pairs (source, relation) these have.
	queries, distinct int64
	folder            string
}

// run ranks the answers of a split and writes metrics and predictions.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(e); err != nil {
		return err
	}
	opened, err := f.Open(ctx, e, f.split, f.bundles)
	if err != nil {
		return err
	}
	a := &evaluating{Run: opened, flags: f, folder: e.Workspace.EvaluationFolder(f.name())}
	if err := a.warnOfSeen(ctx); err != nil {
		return err
	}
	if err := a.openBundles(ctx); err != nil {
		return err
	}
	if err := a.count(ctx); err != nil {
		return err
	}
	rows := scoring.MostRows(a.queries * int64(1+a.Best))
	if err := a.Divide(ctx, a.queries, a.queries, budget.Use{Task: "scoring this graph", Rows: rows}, budget.Estimate{}); err != nil {
		return err
	}
	return a.evaluate(ctx)
}

// warnOfSeen says if the weights of --model learned facts of the dataset.
func (a *evaluating) warnOfSeen(ctx context.Context) error {
	if !a.ModelGiven {
		return nil
	}
	s, err := counts.ReadDataset(ctx, a.E.Workspace.Graph())
	if err != nil {
		return err
	}
	for _, name := range []string{s.Dataset, s.Inference} {
		if pretrained.Seen(*a.Model.Record.Origin, name) {
			a.E.Say("warning: these weights were trained on facts of %s: the metrics are not those of an unseen graph", name)
			break
		}
	}
	return nil
}

// evaluate ranks the answers, unless they are ranked, and prints the metrics.
func (a *evaluating) evaluate(ctx context.Context) error {
	build := func(held lock.Lock, announce string) *beam.Pipeline {
		return command.BeamPipeline(predict.Evaluate, a.params(held, announce))
	}
	output := a.NewOutput("score", a.folder, a.queries, a.loads(), func() []*beam.Pipeline { return []*beam.Pipeline{build(lock.Lock{}, "")} })
	configuration := recorded{
		Evaluated: a.Recorded(), Split: a.flags.split, Protocol: a.flags.evaluates(), Negatives: a.flags.evaluates().Negatives(), Limit: a.flags.limit,
	}
	configuration.Tables = parquet.Versions(parquet.Ranking{}, parquet.Prediction{})
	output.Configuration = configuration
	output.Seed = a.seed()
	output.Outputs = []string{metrics.File, predict.RankingsTable + "/", predict.PredictionsTable + "/"}
	made, err := a.Write(ctx, &output, func() (map[string]int64, error) {
		err := a.Job(ctx, "scoring", a.queries, "queries", func(announce string) *beam.Pipeline { return build(output.Lock(), announce) })
		return map[string]int64{"queries": a.queries}, err
	})
	if err != nil {
		return err
	}
	if !made {
		a.E.Say("%s is complete with the same configuration; use --force to score again", a.E.Workspace.Path(a.folder))
	}
	return a.show(ctx, made)
}

// loads returns the inputs of the steps. A row of rankings or predictions takes 14 bytes on WN18RR_v1.
func (a *evaluating) loads() []command.Load {
	const bytesPerRow = 14
	rows := a.queries + a.distinct*int64(a.Best)
	return []command.Load{
		{Step: "predict.cut", Elements: a.queries, Unit: "queries"},
		{
			Step: "predict.evaluate", Elements: a.distinct, Unit: "distinct queries",
			Parts: workload.Count(a.distinct, rows, a.Queries(1).Work), Bytes: bytesPerRow * rows,
		},
	}
}

func (a *evaluating) params(held lock.Lock, announce string) predict.EvaluateParams {
	p := predict.EvaluateParams{Params: a.Params(announce), Folder: a.E.Workspace.Path(a.folder), Lock: held}
	p.Queries = a.selection()
	return p
}

// show prints the metrics, the outputs, whether this run made them, and the next command.
func (a *evaluating) show(ctx context.Context, made bool) error {
	folder := a.E.Workspace.Path(a.folder)
	m, err := storage.ReadJSON[metrics.Evaluation](ctx, storage.Join(folder, metrics.File))
	if err != nil {
		return err
	}
	a.print(m)
	a.E.Outputs(made, storage.Join(folder, metrics.File), storage.Join(folder, predict.RankingsTable), storage.Join(folder, predict.PredictionsTable))
	a.Next(a.E.Workspace.Command("report"))
	return nil
}
