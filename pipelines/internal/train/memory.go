package train

import (
	"tagnet/model/budget"
	"tagnet/model/engine/device"
)

// estimate estimates the memory. sizes describes the validation split.
func (f *flags) estimate(sizes budget.Sizes) budget.Estimate {
	sizes.OnDevice = f.device.Mode == device.CUDA
	e := budget.Train(sizes, f.configuration)
	if f.rounds.Workers > 1 {
		e = e.Together(sizes, int64(f.together)).Averaging(sizes, f.configuration)
	}
	return e
}
