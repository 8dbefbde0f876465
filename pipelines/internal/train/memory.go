package train

import (
	"tagnet/model/budget"
	"tagnet/model/device"
	"tagnet/model/workload"
	"tagnet/stages/calibrate"
)

// estimates are the memory of a training and that of the calibration after it.
type estimates struct{ train, calibrate budget.Estimate }

// estimate estimates the memory. sizes describes the validation split.
func (f *flags) estimate(sizes budget.Sizes) estimates {
	sizes.OnDevice = f.device.Mode == device.CUDA
	calibrated := sizes
	calibrated.Queries = min(sizes.Queries, calibrate.MostRows)
	e := estimates{budget.Train(sizes, f.configuration), budget.Calibrate(calibrated, f.configuration, calibrate.TopK, workload.MaxRows)}
	if f.rounds.Workers > 1 {
		e.train = e.train.Together(sizes, int64(f.together)).Averaging(sizes, f.configuration)
	}
	return e
}
