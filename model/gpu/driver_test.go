package gpu

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/remedy"
	"tagnet/model/accelerator"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
)

// opened returns a device as programs have it.
func opened(t *testing.T, d device.Device) accelerator.Accelerator {
	t.Helper()
	card, err := Driver(func(int) (device.Device, error) { return d, nil }).Open(1)
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// crowded notes whether two launches overlap.
type crowded struct {
	device.Device
	inside  atomic.Int32
	overlap atomic.Bool
}

func (d *crowded) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if d.inside.Add(1) > 1 {
		d.overlap.Store(true)
	}
	runtime.Gosched()
	defer d.inside.Add(-1)
	return d.Device.Launch(k, blocks, threads, arguments...)
}

// TestCard trains and scores on an open device. Two scorers take turns, and the device has its memory back
// when they are closed.
func TestCard(t *testing.T) {
	t.Parallel()
	s, d := smallScenario(t, func(c *configuration.Configuration) { c.Dim = 8 }), interpreter.New()
	shared := &crowded{Device: d}
	card := opened(t, shared)
	if card.Name() != "cuda" || card.String() != "cuda:1 (PTX interpreter)" {
		t.Errorf("%q, %v", card.Name(), card)
	}
	before := d.Properties().Free
	trainer, err := card.NewTrainer(s.graph, nil, s.configuration, s.parameters(), s.solver())
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := steps.New(s.graph, nil, s.configuration, s.parameters(), s.solver(), 1, kernel.Available()[0])
	if err != nil {
		t.Fatal(err)
	}
	got, stepping := trainer.Step(s.examples, 1)
	want, err := cpu.Step(s.examples, 1)
	if err := errors.Join(err, stepping, trainer.Close()); err != nil || got.Messages != want.Messages || !(math.Abs(got.Loss-want.Loss) <= 1e-4*want.Loss) {
		t.Errorf("a step has %+v on the device, %v, and %+v on the CPU", got, err, want)
	}
	queries, list := s.queries()[:4], ranking.Selection{K: 3}
	answers := s.answerOnTheCPU(t, s.parameters(), queries, list)
	var wait sync.WaitGroup
	for range 2 {
		scorer, err := card.NewScorer(s.graph, nil, s.configuration, s.parameters())
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			got, err := scorer.Score(t.Context(), queries, list)
			if diff := cmp.Diff(answers, got, near); diff != "" || errors.Join(err, scorer.Close()) != nil {
				t.Errorf("%v (-CPU +device):\n%s", err, diff)
			}
		})
	}
	wait.Wait()
	if shared.overlap.Load() {
		t.Error("two scorers compute at the same time")
	}
	if free := d.Properties().Free; free != before {
		t.Errorf("%d bytes are free, %d were before", free, before)
	}
	if err := card.Close(); err != nil {
		t.Error(err)
	}
}

// failing is an interpreter whose calls of a function fail after a number of them.
type failing struct {
	*interpreter.Device
	function string
	after    int
	err      error
}

func (d *failing) fails(function string) error {
	if function != d.function {
		return nil
	}
	if d.after--; d.after < 0 {
		return d.err
	}
	return nil
}

func (d *failing) Load(ptx string, names ...string) ([]device.Kernel, error) {
	if err := d.fails("load"); err != nil {
		return nil, err
	}
	return d.Device.Load(ptx, names...)
}

func (d *failing) Allocate(bytes int64) (device.Pointer, error) {
	if err := d.fails("allocate"); err != nil {
		return 0, err
	}
	return d.Device.Allocate(bytes)
}

func (d *failing) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if err := d.fails("launch"); err != nil {
		return err
	}
	return d.Device.Launch(k, blocks, threads, arguments...)
}

// TestFailuresAreTheDevices has a device fail in each of its functions: the trainer's and the scorer's errors are the
// device's, with its remedy.
func TestFailuresAreTheDevices(t *testing.T) {
	t.Parallel()
	s := smallScenario(t, func(c *configuration.Configuration) { c.Dim = 8 })
	train := func(card accelerator.Accelerator) error {
		trainer, err := card.NewTrainer(s.graph, nil, s.configuration, s.parameters(), s.solver())
		if err != nil {
			return err
		}
		_, err = trainer.Step(s.examples, 1)
		return err
	}
	score := func(card accelerator.Accelerator) error {
		scorer, err := card.NewScorer(s.graph, nil, s.configuration, s.parameters())
		if err != nil {
			return err
		}
		_, err = scorer.Score(t.Context(), s.queries()[:2], ranking.Selection{K: 1})
		return err
	}
	for _, test := range []struct {
		function string
		after    int
		err      error
	}{
		{"load", 0, device.ErrOldDriver}, {"load", 3, device.ErrRefused}, {"allocate", 0, device.ErrMemory}, {"allocate", 3, device.ErrMemory},
		{"launch", 0, device.ErrLost}, {"launch", 8, device.ErrLost},
	} {
		for name, compute := range map[string]func(accelerator.Accelerator) error{"training": train, "scoring": score} {
			remedied := remedy.Errorf(device.UseCPU, "CUDA device 1: %w", test.err)
			err := compute(opened(t, &failing{interpreter.New(), test.function, test.after, remedied}))
			if !errors.Is(err, test.err) || !strings.HasSuffix(fmt.Sprint(err), remedied.Error()) {
				t.Errorf("%s, %s after %d: %v, want %v", name, test.function, test.after, err, remedied)
			}
		}
	}
	none := Driver(func(int) (device.Device, error) { return nil, device.ErrNoDevice })
	if a, err := none.Open(0); a != nil || !errors.Is(err, device.ErrNoDevice) {
		t.Errorf("%v, %v, want that there is no device", a, err)
	}
}
