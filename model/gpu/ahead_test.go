package gpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
)

// batches returns the examples of some steps.
func (s scenario) batches(steps int) (all [][]steps.Example) {
	random := rand.New(rand.NewPCG(5, 5))
	for range steps {
		all = append(all, draw(random, s.graph, s.configuration.BatchSize))
	}
	return all
}

// trained is what steps of a trainer leave.
type trained struct {
	Results []steps.Result
	Errors  []string
	Weights [][]float32
}

// trainAhead makes a step of each batch, and before it announces what next returns for it, unless that is nil.
func (s scenario) trainAhead(t *testing.T, d device.Device, batches [][]steps.Example, next func(step int) func() ([]steps.Example, uint64)) (done trained) {
	t.Helper()
	p := s.parameters()
	trainer, err := s.newTrainer(d, p, s.solver())
	if err != nil {
		t.Fatal(err)
	}
	for step, examples := range batches {
		if announced := next(step); announced != nil {
			trainer.Announce(announced)
		}
		result, err := trainer.Step(examples, uint64(step))
		done.Results, done.Errors = append(done.Results, result), append(done.Errors, fmt.Sprint(err))
	}
	if err := errors.Join(trainer.Store(), trainer.Close()); err != nil {
		t.Fatal(err)
	}
	for _, tensor := range p.Tensors {
		done.Weights = append(done.Weights, tensor.Data)
	}
	return done
}

func nothing(int) func() ([]steps.Example, uint64) { return nil }

// TestAnnounce checks that steps which are prepared while the device computes those before have the same results and
// weights as others, whatever was announced. The interpreter finds accesses that nothing orders.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change          func(*configuration.Configuration)
		capacity, steps int
	}{
		"window": {nil, 0, 7},
		"graph, full, chunks": {func(c *configuration.Configuration) {
			ofGraph(c)
			c.Policy, c.Aggregate = "full", "sum"
		}, 2, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallScenario(t, test.change)
			s.capacity, s.configuration.BatchSize = test.capacity, 3
			batches, last := s.batches(test.steps), test.steps-1
			batches[2][1].Answer = int32(s.graph.Entities)
			want := s.trainAhead(t, interpreter.New(ordered...), batches, nothing)
			for step, err := range want.Errors {
				if bad := strings.Contains(err, "an entity is outside"); bad != (step == 2) || !bad && err != "<nil>" {
					t.Fatalf("step %d: %s", step, err)
				}
			}
			other := slices.Clone(batches[min(4, last)])
			other[2].Key++
			got := s.trainAhead(t, interpreter.New(ordered...), batches, func(step int) func() ([]steps.Example, uint64) {
				examples, seed := batches[min(step+1, last)], uint64(step+1)
				switch step {
				case 2:
					examples = batches[0] // another step
				case 3:
					examples = other // another query
				case 4:
					seed = 77
				case 6:
					examples = nil
				}
				return func() ([]steps.Example, uint64) { return examples, seed }
			})
			if !reflect.DeepEqual(got, want) {
				t.Errorf("announced steps have other results or weights: %+v, want %+v", got.Results, want.Results)
			}
		})
	}
}

// TestOneSet trains on a device whose memory holds one set of prepared queries: what is announced is not asked for, and
// the bits are the same.
func TestOneSet(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, ofGraph)
	s.capacity, s.configuration.BatchSize = 2, 3
	prepared := func(memory int64) (twice bool, used, second int64) {
		d := interpreter.New(interpreter.Memory(memory))
		trainer, err := s.newTrainer(d, s.parameters(), s.solver())
		if err != nil {
			t.Fatalf("with %d bytes: %v", memory, err)
		}
		return trainer.twice, memory - d.Properties().Free, trainer.setBytes(1+s.configuration.Negatives, 2, 2)
	}
	twice, used, second := prepared(16 << 30)
	memory, less := used*6/5, used
	for ; twice; memory -= second / 3 { // an eighth of what is free stays so
		twice, less, _ = prepared(memory - second/3)
	}
	if one := used - less; one > second || one < second/2 {
		t.Fatalf("a second set has %d bytes, and is said to have %d", one, second)
	}
	batches := s.batches(2)
	got := s.trainAhead(t, interpreter.New(interpreter.Memory(memory)), batches, func(int) func() ([]steps.Example, uint64) {
		return func() ([]steps.Example, uint64) {
			t.Error("a step is prepared")
			return nil, 0
		}
	})
	if want := s.trainAhead(t, interpreter.New(), batches, nothing); !reflect.DeepEqual(got, want) {
		t.Errorf("results %+v, want %+v", got, want)
	}
}

// ofGraph makes the configuration one of relations that come from their graph.
func ofGraph(c *configuration.Configuration) {
	c.Relations, c.RelationLayers, c.Bias, c.Dim = "graph", 2, true, 8
}

// onStreams is a device that notes copies and their streams, and may be lost on the second one.
type onStreams struct {
	device.Device
	stream int
	notes  []string
	lost   bool
}

func (d *onStreams) Use(stream int) error {
	d.stream = stream
	return d.Device.Use(stream)
}

func (d *onStreams) CopyIn(to device.Pointer, from []byte) error {
	d.notes = append(d.notes, fmt.Sprint("in ", d.stream))
	return d.Device.CopyIn(to, from)
}

func (d *onStreams) CopyOut(to []byte, from device.Pointer) error {
	d.notes = append(d.notes, fmt.Sprint("out ", d.stream))
	return d.Device.CopyOut(to, from)
}

func (d *onStreams) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if d.lost && d.stream == 1 {
		return device.ErrLost
	}
	return d.Device.Launch(k, blocks, threads, arguments...)
}

// TestStepWaitsTwice checks that a step waits for the device once before its launches, when it has nothing to do, and
// once behind them; and that the next one, if it is announced, is copied to the device in between, on another stream
// than that of the launches. A device that is lost meanwhile is left with its first stream.
func TestStepWaitsTwice(t *testing.T) {
	t.Parallel()
	s, d := smallScenario(t, nil), &onStreams{Device: interpreter.New()}
	trainer, err := NewTrainer(d, s.graph, nil, s.configuration, s.parameters(), s.solver())
	if err != nil {
		t.Fatal(err)
	}
	batches := s.batches(3)
	for step, want := range []string{"in 1, in 1, out 0", "out 0", "in 1, out 0"} {
		d.notes = nil
		if step == 0 {
			trainer.Announce(func() ([]steps.Example, uint64) { return batches[1], 1 })
		}
		if _, err := trainer.Step(batches[step], uint64(step)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.notes, ", "); got != want {
			t.Errorf("step %d: %s, want %s", step, got, want)
		}
	}
	trainer.Announce(func() ([]steps.Example, uint64) {
		d.lost = true
		return batches[1], 4
	})
	for step := range uint64(2) {
		if _, err := trainer.Step(batches[0], 3+step); !errors.Is(err, device.ErrLost) || d.stream != 0 {
			t.Errorf("error %v, stream %d, want %v and 0", err, d.stream, device.ErrLost)
		}
	}
}

// TestAheadOfOtherAnswers does not take a step for another one, whose queries have other answers or other draws of them
// beside equal first ones.
func TestAheadOfOtherAnswers(t *testing.T) {
	one := func(other int32, key uint64) []steps.Example {
		return []steps.Example{{Query: graph.Query{Source: 1, Answer: 2, Others: &graph.Others{other}}, Key: 3, OtherKeys: []uint64{key}}}
	}
	next := ahead{examples: one(4, 5), seed: 6}
	if !next.isStep(one(4, 5), 6) {
		t.Error("an equal step is another one")
	}
	if next.isStep(one(7, 5), 6) || next.isStep(one(4, 8), 6) {
		t.Error("a step with other answers is the same")
	}
}
