// Package cuda makes the CUDA devices of a machine known to package accelerator when it is imported. It connects the driver
// (model/device/cuda) with the engine (model/gpu). Only programs that train or score import it, since the driver's package
// makes every program dynamic.
package cuda
