package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/learn/learntest"
)

// roundsOnDevice returns a run by rounds on a device that computes with the kernels that it would have on the CPU.
func roundsOnDevice(t *testing.T, name string) (Run, Data, *learntest.Devices) {
	t.Helper()
	run, data := roundsRun(inMemory(t, name), 2, 2), toy(t)
	k, err := kernel.Named(run.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	devices := &learntest.Devices{Kernel: k}
	run.Device, data.Devices = device.Choice{Mode: device.CUDA}, devices
	return run, data, devices
}

// TestOneWorkerOnADevice trains all shards of all rounds by one worker, whose trainer has weights of its own, and
// interrupts it in the middle of each: the checkpoints are those of workers on the CPU.
func TestOneWorkerOnADevice(t *testing.T) {
	t.Parallel()
	cpu := roundsRun(inMemory(t, "cpu"), 2, 2)
	trainRounds(t, cpu, toy(t), nil)
	run, data, devices := roundsOnDevice(t, "device")
	tasks := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), math.MaxInt)
	w, err := NewWorker(run, data)
	if err != nil {
		t.Fatal(err)
	}
	interrupted := 0
	for _, task := range tasks {
		for shard := range task.Round.Workers {
			ctx, cancel := context.WithCancel(t.Context())
			err := w.Train(ctx, run, task, shard, func(Progress, int64, float64) { cancel() })
			if errors.Is(err, context.Canceled) {
				interrupted++
				err = w.Train(t.Context(), run, task, shard, func(Progress, int64, float64) {})
			}
			if err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		if err := perform(t.Context(), run, data, task, nil); err != nil { // its workers find the results
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || interrupted != 4 {
		t.Errorf("%d interrupts, %v, want 4", interrupted, err)
	}
	if last := devices.Operations[len(devices.Operations)-1]; last != "close trainer" {
		t.Errorf("the last operation is %s, want that the trainer is closed, and not the device", last)
	}
	sameFiles(t, contents(t, cpu.Checkpoints), contents(t, run.Checkpoints))
}

// TestWorkerOnALostDevice closes a worker whose device is lost, at each of its operations.
func TestWorkerOnALostDevice(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"trainer", "load", "step", "store"} {
		run, data, devices := roundsOnDevice(t, operation)
		task := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, data), 1)[0]
		before := contents(t, run.Checkpoints)
		lost := false
		devices.Fail = func(name string) error {
			if lost = lost || name == operation; lost && name != "close" {
				return fmt.Errorf("imaginary:0: %w", device.ErrLost)
			}
			return nil
		}
		w, err := NewWorker(run, data)
		if err == nil {
			err = w.Train(t.Context(), run, task, 0, func(Progress, int64, float64) {})
			_ = w.Close()
		}
		if last := devices.Operations[len(devices.Operations)-1]; !errors.Is(err, device.ErrLost) || last != "close" {
			t.Errorf("%s: %v, and the last operation is %s; want that the device was lost and is closed", operation, err, last)
		}
		sameFiles(t, before, contents(t, run.Checkpoints))
	}
}

// TestOpenWithoutTheDevicesOfTheWorkers opens a training whose devices are on other machines, before its first epoch
// and after it.
func TestOpenWithoutTheDevicesOfTheWorkers(t *testing.T) {
	t.Parallel()
	run, data, _ := roundsOnDevice(t, "run")
	elsewhere := data
	elsewhere.Devices = nil
	tasks := Tasks(run, data.Train.Keys(run.Configuration), start(t, run, elsewhere), math.MaxInt)
	for _, task := range tasks[:3] {
		if err := perform(t.Context(), run, data, task, nil); err != nil {
			t.Fatal(err)
		}
	}
	var resumed []Progress
	if _, err := Open(t.Context(), run, elsewhere, func(p Progress) { resumed = append(resumed, p) }); err != nil {
		t.Fatal(err)
	}
	if len(resumed) != 1 || resumed[0].Resumed != "epoch-001" || resumed[0].OtherKernel != "" {
		t.Errorf("reports %+v, want one that names no other device", resumed)
	}
}
