package calibrate

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/model/answer"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/ranking"
	"tagnet/model/workload"
	"tagnet/stages/graph"
	"tagnet/stages/score"
)

func init() {
	beam.RegisterDoFn(&sampleFn{})
	beam.RegisterDoFn(&fitFn{})
}

// Params are the parameters of Calibrate.
type Params struct {
	// Queries selects the queries; NewParams sets what the calibration wants of them.
	Queries workload.Params
	// Model scores them.
	Model score.Params
	// Lock is that of the folder of checkpoints; the zero Lock is never lost.
	Lock lock.Lock
}

// NewParams returns the parameters that calibrate a model with at most limit queries of the validation split, MostRows
// if it is 0. work is the estimated multiply-adds of a query.
func NewParams(model score.Params, limit int64, work float64, held lock.Lock) Params {
	model.Split, model.Best, model.Known = "valid", TopK, ranking.Beside
	if limit <= 0 || limit > MostRows {
		limit = MostRows
	}
	return Params{
		Queries: workload.Params{Graph: model.Graph, Without: model.Without, Split: model.Split, Parts: model.Parts, Limit: limit, Work: work, Best: TopK},
		Model:   model, Lock: held,
	}
}

// Calibrate fits the calibration of a checkpoint and writes it. Output: its URL, or "" if there are no candidates to
// fit it to. It fails if the graph is another than that of the checkpoint's record.
func Calibrate(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("calibrate.Calibrate")
	sampled := beam.ParDo(s, &sampleFn{Params: p}, score.Shards(s, p.Queries))
	return beam.ParDo(s, &fitFn{Params: p}, beam.GroupByKey(s, sampled))
}

type sampleFn struct{ Params Params }

// ProcessElement scores a shard and emits its candidates under one key.
func (f *sampleFn) ProcessElement(ctx context.Context, shard score.Shard, emit func(int, []byte)) error {
	return shard.Score(ctx, f.Params.Model, f.Params.Queries, func(ctx context.Context, scored *answer.Scored) error {
		if _, _, err := f.Params.open(ctx); err != nil { // the shard may be of another graph
			return err
		}
		element, err := encode(scored.Sample())
		if err != nil {
			return err
		}
		emit(0, element)
		return nil
	})
}

type fitFn struct{ Params Params }

// ProcessElement fits the calibration to the candidates of all shards.
func (f *fitFn) ProcessElement(ctx context.Context, _ int, elements func(*[]byte) bool, emit func(string)) error {
	var sample []calibration.Candidate
	var element []byte
	for elements(&element) {
		var err error
		if sample, err = decode(sample, element); err != nil {
			return err
		}
	}
	url, err := f.Params.fit(ctx, sample)
	if err != nil {
		return err
	}
	emit(url)
	return nil
}

// fit fits the calibration to a sample, writes it and returns its URL.
func (p Params) fit(ctx context.Context, sample []calibration.Candidate) (string, error) {
	loaded, record, err := p.open(ctx)
	if err != nil {
		return "", err
	}
	c, err := calibration.Fit(sample, loaded.Relations)
	if errors.Is(err, calibration.ErrNoCandidates) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	c.Split, c.TopK = p.Queries.Split, TopK
	folder := checkpoint.Folder(p.Model.Checkpoints)
	return folder.CalibrationURL(record.Name()), folder.SaveCalibration(p.Lock.Guard(ctx), record, c)
}

// open opens the graph and the record of the checkpoint. It is a *manifest.Replaced error if the graph is not that of the record.
func (p Params) open(ctx context.Context) (*kg.KG, checkpoint.Record, error) {
	record, err := checkpoint.Folder(p.Model.Checkpoints).Record(ctx, p.Model.Checkpoint)
	if err != nil {
		return nil, record, err
	}
	loaded, err := graph.Open(ctx, p.Model.Graph, p.Model.Parts.URL != "", p.Model.Without...)
	if err == nil && loaded.Manifest.Checksum != record.Vocabulary.Graph {
		err = &manifest.Replaced{Folder: p.Model.Graph}
	}
	return loaded, record, err
}
