package train

import (
	"context"

	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/relationgraph"
	"tagnet/stages/bundle"
	"tagnet/stages/calibrate"
)

// openRelations opens the relation graph of the training facts, which ULTRA needs, or returns nil.
func (f *flags) openRelations(ctx context.Context, e *command.Environment, loaded *kg.KG, inputs map[string]string) (*relationgraph.Table, error) {
	if !f.configuration.Transfers() {
		return nil, nil
	}
	return relationgraph.Open(ctx, e, loaded, inputs, "train", f.memory)
}

// estimates are the memory of a training and that of the calibration after it.
type estimates struct{ train, calibrate budget.Estimate }

// estimate estimates the memory. edges is the relation graph, or nil; sizes describes the validation split.
func (f *flags) estimate(ctx context.Context, edges *relationgraph.Table, sizes budget.Sizes) (estimates, error) {
	calibrated := sizes
	calibrated.Queries = min(sizes.Queries, calibrate.MostRows)
	if edges == nil {
		e := estimates{budget.Train(sizes, f.configuration), budget.Calibrate(calibrated, f.configuration, calibrate.TopK, bundle.MaxRows)}
		return f.averaging(e, sizes), nil
	}
	between, err := edges.Edges(ctx)
	if err != nil {
		return estimates{}, err
	}
	e := estimates{budget.TrainUltra(sizes, f.configuration, between), budget.CalibrateUltra(calibrated, between, calibrate.TopK, bundle.MaxRows)}
	return f.averaging(e, sizes), nil
}

// averaging adds what rounds of several workers take.
func (f *flags) averaging(e estimates, sizes budget.Sizes) estimates {
	if f.rounds.Workers > 1 {
		e.train = e.train.Averaging(sizes, f.configuration)
	}
	return e
}
