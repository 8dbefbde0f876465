package accelerator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/model/parallel"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
	"tagnet/model/relations"
)

// several are all devices of a machine as one. They may differ: each takes the next queries once it has scored its last ones.
type several []Accelerator

// openAll opens the devices of a machine. An error of any is that of all.
func openAll(devices Devices) (Accelerator, error) {
	var all several
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

func (s several) Name() string { return s[0].Name() }

func (s several) String() string {
	names := make([]string, len(s))
	for i, a := range s {
		names[i] = a.String()
	}
	return strings.Join(names, ", ")
}

// NewTrainer returns a trainer on the first device: a step needs the weights of the step before.
func (s several) NewTrainer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *optimizer.Adam) (Trainer, error) {
	return s[0].NewTrainer(g, between, c, p, solver)
}

// NewScorer returns a scorer on all devices.
func (s several) NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (Scorer, error) {
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

func (s several) Close() error {
	var errs []error
	for _, a := range s {
		errs = append(errs, a.Close())
	}
	return errors.Join(errs...)
}

// scorers has a scorer for each of several devices.
type scorers []Scorer

// Score deals the queries out. No answer depends on the device that gives it, nor on what others have; the error is that of the first query
// that has one.
func (s scorers) Score(ctx context.Context, queries []gpu.Query, best int) ([]gpu.Answered, error) {
	parts := slices.Collect(slices.Chunk(choosingInTurn(queries), gpu.Together))
	answered, errs := make([][]gpu.Answered, len(parts)), make([]error, len(parts))
	parallel.Workers(min(len(s), len(parts)), len(parts), func(device, part int) {
		answered[part], errs[part] = s[device].Score(ctx, parts[part], best)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(answered...), nil
}

// choosingInTurn returns queries of which one at a time chooses its candidates, into a list of its own.
func choosingInTurn(queries []gpu.Query) []gpu.Query {
	if len(queries) == 0 || queries[0].Choose == nil {
		return queries
	}
	var turn sync.Mutex
	queries = slices.Clone(queries)
	for i := range queries {
		choose := queries[i].Choose
		queries[i].Choose = func(scores []float32) []ranking.Candidate {
			turn.Lock()
			defer turn.Unlock()
			return slices.Clone(choose(scores))
		}
	}
	return queries
}

func (s scorers) Close() error {
	var errs []error
	for _, one := range s {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
