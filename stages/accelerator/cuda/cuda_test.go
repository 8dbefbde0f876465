package cuda

import (
	"errors"
	"slices"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/stages/accelerator"
)

// counting counts how often PTX is compiled, and whether the device is closed.
type counting struct {
	device.Device
	loads, closed int
	fails         error
}

func (c *counting) Load(ptx string, names ...string) ([]device.Kernel, error) {
	if c.loads++; c.fails != nil {
		return nil, c.fails
	}
	return c.Device.Load(ptx, names...)
}

func (c *counting) Close() error { c.closed++; return c.Device.Close() }

// TestKernelsAreCompiledOnce makes several trainers and scorers on a device.
func TestKernelsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	d := &counting{Device: interpreter.New(), fails: device.ErrOldDriver}
	a, err := Devices{Driver: func(int) (device.Device, error) { return d, nil }}.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(3, 1, []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 1, Relation: 0, Tail: 2}})
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Delta, c.Dim = 2, 1, 8
	layout := parameters.Layout(c, g.RelationCount())
	p := parameters.Initialize(layout, 1)
	score := func() ([]accelerator.Answered, error) {
		s, err := a.NewScorer(g, c, p)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return s.Score([]accelerator.Query{{Source: 0, Relation: 0, Answers: []int32{1, 2}, Known: []int32{1}}}, 2)
	}
	if _, err := score(); !errors.Is(err, device.ErrOldDriver) {
		t.Fatalf("error %v, want that of the driver", err)
	}
	d.fails, d.loads = nil, 0
	first, err := score()
	if err != nil {
		t.Fatal(err)
	}
	if a := first[0]; len(a.Scores) != 2 || a.Ranks[1].Candidates != 2 || !slices.Equal(a.Distances, []int32{1, 2}) || len(a.Best) != 2 || a.Messages == 0 {
		t.Errorf("answered %+v", a)
	}
	loads := d.loads
	if loads == 0 {
		t.Fatal("nothing was compiled")
	}
	trainer, err := a.NewTrainer(g, c, p, optimizer.NewAdam(layout, 0.01, 0, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := trainer.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := score()
	if err != nil || !slices.Equal(second[0].Scores, first[0].Scores) {
		t.Errorf("scores %v, %v, want %v", second, err, first)
	}
	if d.loads != loads {
		t.Errorf("PTX was compiled %d times, want %d", d.loads, loads)
	}
	if err := a.Close(); err != nil || d.closed != 1 {
		t.Errorf("closed %d times: %v", d.closed, err)
	}
}

func TestNoDevice(t *testing.T) {
	t.Parallel()
	d := Devices{Driver: func(int) (device.Device, error) { return nil, device.ErrNoDevice }}
	if a, err := d.Open(3); a != nil || !errors.Is(err, device.ErrNoDevice) {
		t.Errorf("%v, %v, want the driver's error", a, err)
	}
	c := configuration.Default()
	c.Policy = configuration.PolicyFull
	if err := d.Supports(c); err == nil {
		t.Error("full propagation: no error")
	}
}
