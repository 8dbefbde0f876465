package gpu

import (
	"context"
	"fmt"
	"sync"

	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Driver opens a device by its number; cuda.Open is one. A program registers one with accelerator.Register, to train
// and score on the devices that it opens.
type Driver func(ordinal int) (device.Device, error)

// Supports returns an error that names the field of a configuration that devices do not compute, or nil.
func (Driver) Supports(c configuration.Configuration) error { return Supports(c) }

// Open opens the device of that number.
func (d Driver) Open(ordinal int) (accelerator.Accelerator, error) {
	opened, err := d(ordinal)
	if err != nil {
		return nil, err
	}
	return &card{device: opened, ordinal: ordinal}, nil
}

// card is an open device, which computes for one goroutine at a time.
type card struct {
	device    device.Device
	ordinal   int
	turnMutex sync.Mutex
}

func (c *card) Name() string { return "cuda" }

func (c *card) String() string {
	return fmt.Sprintf("cuda:%d (%s)", c.ordinal, c.device.Properties().Name)
}

// NewTrainer returns a trainer, which must be the only user of the card.
func (c *card) NewTrainer(g *graph.Graph, between *relations.Graph, configured configuration.Configuration, p *parameters.Set[float32],
	solver *steps.Adam) (steps.Stepper, error) {
	c.turnMutex.Lock()
	defer c.turnMutex.Unlock()
	t, err := NewTrainer(c.device, g, between, configured, p, solver)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// NewScorer returns a scorer that takes turns with other scorers on the card.
func (c *card) NewScorer(g *graph.Graph, between *relations.Graph, configured configuration.Configuration, p *parameters.Set[float32]) (answer.Scorer, error) {
	c.turnMutex.Lock()
	defer c.turnMutex.Unlock()
	s, err := NewScorer(c.device, g, between, configured, p)
	if err != nil {
		return nil, err
	}
	return &sharing{s, &c.turnMutex}, nil
}

func (c *card) Close() error {
	c.turnMutex.Lock()
	defer c.turnMutex.Unlock()
	return c.device.Close()
}

// sharing is a scorer that shares its card with others.
type sharing struct {
	scorer    *Scorer
	turnMutex *sync.Mutex
}

func (s *sharing) Score(ctx context.Context, queries []answer.Request, list ranking.Selection) (*answer.Scored, error) {
	s.turnMutex.Lock()
	defer s.turnMutex.Unlock()
	return s.scorer.Score(ctx, queries, list)
}

func (s *sharing) Close() error {
	s.turnMutex.Lock()
	defer s.turnMutex.Unlock()
	return s.scorer.Close()
}
