package learn

import (
	"context"
	"errors"
	"math"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/gpu"
	"tagnet/model/gpu/interpreter"
)

// TestTrainingOnTheInterpreter trains with the kernels of a CUDA device: the losses are close to those of the CPU, and an
// interrupted training ends with the same bytes.
func TestTrainingOnTheInterpreter(t *testing.T) {
	t.Parallel()
	devices := accelerator.New(gpu.Driver(func(int) (device.Device, error) { return interpreter.New(), nil }))
	small := func(name string) Run {
		run := toyRun(inMemory(t, name))
		run.Configuration.Epochs, run.Configuration.Layers = 2, 2
		run.Configuration.QueriesPerEpoch, run.Configuration.BatchSize = 12, 4
		return run
	}
	onCPU := small("cpu")
	train(t, onCPU, toy(t))
	want, err := metrics.ReadHistory(t.Context(), onCPU.History)
	if err != nil {
		t.Fatal(err)
	}
	whole, data := small("device"), toy(t)
	whole.Device, data.Devices = device.Choice{Mode: device.CUDA}, devices
	train(t, whole, data)
	got, err := metrics.ReadHistory(t.Context(), whole.History)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d epochs, %v, want %d", len(got), err, len(want))
	}
	for i, e := range got {
		w := want[i]
		if !(math.Abs(e.Loss-w.Loss) < 1e-3*w.Loss) || !(math.Abs(e.Valid.Mean.MRR-w.Valid.Mean.MRR) < 0.05) ||
			e.Kernel != "cuda" || e.Steps != w.Steps || e.Messages != w.Messages || e.Queries != w.Queries {
			t.Errorf("epoch %d: %+v, valid %+v; want %+v, valid %+v", e.Epoch, e, e.Valid, w, w.Valid)
		}
	}

	broken := small("broken")
	broken.Device = whole.Device
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		_, err := Train(ctx, broken, data, func(p Progress) {
			if p.Queries > 0 && p.Validated == 0 && p.Resumed == "" && p.Notice == "" && p.Finished == nil {
				if steps++; steps == 2 {
					cancel()
				}
			}
		})
		cancel()
		if err == nil && stops > 0 {
			break
		}
		if !errors.Is(err, context.Canceled) || stops > 100 {
			t.Fatalf("%v after %d interruptions", err, stops)
		}
	}
	sameFiles(t, contents(t, whole.Checkpoints), contents(t, broken.Checkpoints))
}
