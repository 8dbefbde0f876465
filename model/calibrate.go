package model

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/calibration"
	"tagnet/model/workload"
)

// ErrNoValidation is the error of Calibrate for a graph without validation facts.
var ErrNoValidation = errors.New("there are no validation facts to fit probabilities to")

// Calibrate fits probabilities to the scores of the validation queries, at most limit of them, spread evenly over all, unless that is 0: of
// the best new answers to these, the validation facts are true. It is for a model that has none, such as the one that Open takes where
// nothing is trained. It must not run beside other methods.
func (m *Model) Calibrate(ctx context.Context, limit int64) error {
	fail := func(err error) error { return fmt.Errorf("calibrating: %w", err) }
	queries, err := workload.List(ctx, m.opened.KG, workload.Params{Split: "valid", Limit: limit, Best: calibration.TopK})
	if err != nil {
		return fail(classify(err))
	}
	if len(queries) == 0 {
		return fail(ErrNoValidation)
	}
	if err := m.opened.Calibrate(ctx, queries); err != nil {
		return fail(err)
	}
	return nil
}
