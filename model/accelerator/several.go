package accelerator

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// allDevices are all devices of a machine as one. They may differ: each takes the next queries when it is done.
type allDevices []Accelerator

// openAll opens the devices of a machine, all or none.
func openAll(devices Devices) (Accelerator, error) {
	var all allDevices
	for {
		a, err := devices.Open(len(all))
		switch {
		case len(all) > 0 && errors.Is(err, device.ErrRange):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, a)
	}
}

func (s allDevices) Name() string { return s[0].Name() }

func (s allDevices) String() string {
	names := make([]string, len(s))
	for i, a := range s {
		names[i] = a.String()
	}
	return strings.Join(names, ", ")
}

// NewTrainer returns a trainer on the first device: a step needs the weights of the step before.
func (s allDevices) NewTrainer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32],
	solver *steps.Adam) (steps.Stepper, error) {
	return s[0].NewTrainer(g, between, c, p, solver)
}

// NewScorer returns a scorer on all devices.
func (s allDevices) NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (answer.Scorer, error) {
	var all scorers
	for _, a := range s {
		one, err := a.NewScorer(g, between, c, p)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all = append(all, one)
	}
	return all, nil
}

func (s allDevices) Close() error { return closeAll(s) }

// scorers has a scorer for each of several devices.
type scorers []answer.Scorer

// Together is how many queries each of several devices is given at a time: as many as a device computes together where
// its memory suffices.
const Together = 64

// Score deals the queries out. No answer depends on the device that gives it, nor on the other queries; the error
// belongs to the first query that fails.
func (s scorers) Score(ctx context.Context, queries []answer.Request, list ranking.Selection) (*answer.Scored, error) {
	parts := slices.Collect(slices.Chunk(queries, Together))
	scored, errs := make([]*answer.Scored, len(parts)), make([]error, len(parts))
	parallel.Workers(min(len(s), len(parts)), len(parts), func(device, part int) {
		scored[part], errs[part] = s[device].Score(ctx, parts[part], list)
	})
	all := &answer.Scored{}
	for part, err := range errs {
		if err != nil {
			return nil, err
		}
		all.Queries, all.Messages = append(all.Queries, scored[part].Queries...), all.Messages+scored[part].Messages
	}
	return all, nil
}

func (s scorers) Close() error { return closeAll(s) }

func closeAll[T io.Closer](all []T) error {
	var errs []error
	for _, one := range all {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
