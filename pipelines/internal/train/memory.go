package train

import (
	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/pipelines/internal/derived"
)

// estimate estimates the memory of the training and of the fit of probabilities after it. sizes describes the validation split, all that of
// all facts.
func (f *flags) estimate(sizes, all budget.Sizes) budget.Estimate {
	u := budget.Use{Task: "training on this graph", Training: true, Averages: f.rounds.Workers > 1}
	if f.Device.Mode == device.CUDA {
		u.Devices = f.together
	}
	e := budget.Of(sizes, f.configuration, u)
	if !f.bundles {
		e = e.Or(derived.EstimateFit(all, f.configuration))
	}
	return e
}
