package main

import (
	"context"
	"errors"
	"fmt"

	"tagnet/formats/history"
	"tagnet/model/accelerator"
	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/gpu"
	"tagnet/model/gpu/verification"
	"tagnet/model/training"
	"tagnet/stages/learn"
)

// kit is one run of the command on a device.
type kit struct {
	options
	configuration configuration.Configuration
	clock         clock
	print         func(format string, arguments ...any)
	device        device.Device
	data          training.Data
	measured      measured
}

// measured is the content of measured.json.
type measured struct {
	Card     device.Properties `json:"card"`
	Preset   string            `json:"preset"`
	Verified []string          `json:"verified,omitempty"`
	Training *timing           `json:"training,omitempty"`
	Scoring  *timing           `json:"scoring,omitempty"`
	Epochs   []history.Epoch   `json:"epochs,omitempty"`
	// Trained describes the training of this run, Scored the metrics on the split that it scored.
	Trained *trained `json:"trained,omitempty"`
	Scored  *scored  `json:"scored,omitempty"`
	Seconds float64  `json:"seconds"`
}

// run verifies, measures, trains and scores.
func (k *kit) run(ctx context.Context) (err error) {
	if k.device, err = k.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.device.Close()) }()
	k.measured.Card, k.measured.Preset = k.device.Properties(), k.preset
	k.printCard()
	if err := gpu.Supports(k.configuration); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		skip bool
		do   func(context.Context) error
	}{
		{"verifying", k.skipVerify, k.verify},
		{"reading the graph", false, k.read},
		{"measuring", k.skipMeasure, k.measure},
		{"training", k.skipTraining && k.split == "", k.train},
	} {
		if step.skip {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := step.do(ctx)
		k.measured.Seconds = k.clock.spent().Seconds()
		if written := k.writeMeasured(context.WithoutCancel(ctx)); err == nil {
			err = written
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	k.print("done after %.1fs", k.clock.spent().Seconds())
	return nil
}

// peakBytes and peakOperations are a second's, 0 where the driver does not tell the clocks.
func peakBytes(p device.Properties) float64 {
	return 2 * 1000 * float64(p.MemoryClock) * float64(p.BusWidth) / 8
}

func peakOperations(p device.Properties) float64 {
	const cores, fused = 128, 2 // of a multiprocessor, and operations of a fused multiplication and addition
	return float64(p.Processors) * cores * fused * 1000 * float64(p.Clock)
}

func (k *kit) printCard() {
	p := k.device.Properties()
	k.print("card: %s, driver %s, %.1f GiB memory (%.1f free), %d multiprocessors, %d MHz, memory %d MHz x %d bits",
		p.Name, p.Driver, gib(p.Memory), gib(p.Free), p.Processors, p.Clock/1000, p.MemoryClock/1000, p.BusWidth)
	k.print("peaks: %.0f GB/s, %.1f TFLOP/s", peakBytes(p)/1e9, peakOperations(p)/1e12)
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }

// verify compares the device with the golden cases and the interpreter.
func (k *kit) verify(context.Context) error {
	var failed error
	err := verification.Run(k.device, func(r verification.Result) {
		switch {
		case r.Skipped != nil:
			k.print("verified %s: skipped, %v", r.Case, r.Skipped)
		case r.Err() == nil:
			k.print("verified %s: golden numbers, equal bits in two runs and on the interpreter", r.Case)
			k.measured.Verified = append(k.measured.Verified, r.Case)
		default:
			k.print("verified %s: FAILED\n%v", r.Case, r.Err())
			failed = errors.Join(failed, fmt.Errorf("case %s differs", r.Case))
		}
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		k.print("verified %d cases after %.1fs", len(k.measured.Verified), k.clock.spent().Seconds())
	}
	return err
}

// read reads the graph and the training set.
func (k *kit) read(ctx context.Context) error {
	var err error
	if k.data, err = (learn.Params{Graph: k.graph()}).ReadData(ctx); err != nil {
		return err
	}
	k.data.Devices = accelerator.New(func(int) (device.Device, error) { return k.device, nil })
	g := k.data.Graph
	k.print("graph: %d entities, %d edges, %d relations with inverses, %d training facts, read after %.1fs",
		g.Entities, g.Edges(), g.RelationCount(), len(k.data.Train.Facts), k.clock.spent().Seconds())
	return nil
}
