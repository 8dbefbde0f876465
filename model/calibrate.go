package model

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/answer"
	"tagnet/model/calibration"
	"tagnet/model/ranking"
	"tagnet/model/workload"
)

// ErrNoValidation is the error of Calibrate for a graph without validation facts.
var ErrNoValidation = errors.New("there are no validation facts to fit probabilities to")

// Calibrate fits probabilities to the scores of the validation queries, at most limit of them, spread evenly over all, unless that is 0: of
// the best new answers to these, the validation facts are true. It is for a model that has none, such as the one that Open takes where
// nothing is trained. It must not run beside other methods.
func (m *Model) Calibrate(ctx context.Context, limit int64) error {
	fail := func(err error) error { return fmt.Errorf("calibrating: %w", err) }
	queries, err := workload.List(ctx, m.graph, workload.Params{Split: "valid", Limit: limit, Best: calibration.TopK})
	if err != nil {
		return fail(classify(err))
	}
	if len(queries) == 0 {
		return fail(ErrNoValidation)
	}
	r, err := answer.New(answer.Model{Graph: m.graph.Of("valid").Graph, Configuration: m.record.Configuration, Parameters: m.weights},
		ranking.Selection{K: calibration.TopK, Known: ranking.Beside}, answer.Means{Kernel: m.kernel, Threads: m.threads})
	if err != nil {
		return fail(err)
	}
	scored, err := r.Rank(ctx, &answer.Bundle{Queries: queries}, nil)
	if err = errors.Join(err, r.Close()); err != nil {
		return fail(err)
	}
	fitted, err := calibration.Fit(calibration.Sample(scored), m.graph.Relations)
	if err != nil {
		return fail(err)
	}
	fitted.Weights, fitted.Split, fitted.TopK = m.record.Weights.SHA256, "valid", calibration.TopK
	m.calibration = fitted
	return nil
}
