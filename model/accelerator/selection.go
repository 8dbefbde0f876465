package accelerator

import (
	"errors"
	"fmt"

	"tagnet/formats/remedy"
	"tagnet/model/answer"
	"tagnet/model/engine/device"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Selection selects the devices or the CPU for a training or a scoring, and is an answer.Device. The zero Selection
// computes on the processor.
type Selection struct {
	accelerator Accelerator
	again       func() (Accelerator, error) // opens it again, once it was lost
	lost        bool
	optional    bool
	text        string
}

// Select decides by the user's choice what to compute a configuration on. With Auto an error of the device selects the
// processor; otherwise Select returns the error.
func Select(devices Devices, choice device.Choice, c configuration.Configuration) (Selection, error) {
	if choice.Mode == device.CPU {
		return Selection{}, nil
	}
	unsupported := devices.Supports(c)
	switch {
	case unsupported != nil && choice.Mode == device.CUDA:
		return Selection{}, unsupported
	case unsupported != nil:
		return onCPU(remedy.Without(unsupported)), nil
	}
	opening := func() (Accelerator, error) { return open(devices, choice) }
	accelerator, err := opening()
	switch {
	case err != nil && choice.Mode == device.CUDA:
		return Selection{}, err
	case errors.Is(err, device.ErrNoDriver):
		return onCPU(device.ErrNoDriver.Error()), nil
	case err != nil:
		return onCPU(remedy.Without(err)), nil
	}
	return Selection{accelerator: accelerator, again: opening, optional: choice.Mode == device.Auto, text: fmt.Sprintf("computing on %v", accelerator)}, nil
}

// SelectDevice makes a model compute on what the user chose of this process's devices.
func SelectDevice(m *answer.Model, choice device.Choice) error {
	selected, err := Select(Process, choice, m.Configuration.Within(m.Graph.Entities))
	m.Resources.Device = &selected
	return err
}

// open opens what the user chose.
func open(devices Devices, choice device.Choice) (Accelerator, error) {
	if choice.All {
		return openAll(devices)
	}
	return devices.Open(choice.Ordinal)
}

// Check returns an error if the user's choice is a device that this process cannot use, so that a command ends before
// it writes anything. What the workers of another process can use is not known here.
func Check(choice device.Choice, c configuration.Configuration, local bool) error {
	if choice.Mode != device.CUDA || !local {
		return nil
	}
	_, err := Select(Process, choice, c)
	return err
}

func onCPU(reason string) Selection { return Selection{text: "computing on the CPU: " + reason} }

// Accelerator returns the selected device, or nil for the processor.
func (s *Selection) Accelerator() Accelerator { return s.accelerator }

// Devices is the number of devices that were selected.
func (s *Selection) Devices() int {
	switch a := s.accelerator.(type) {
	case nil:
		return 0
	case allDevices:
		return len(a)
	}
	return 1
}

// NewScorer returns a scorer on the selected device; see Accelerator. One that was discarded is opened again.
func (s *Selection) NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (answer.Scorer, error) {
	if s.lost {
		opened, err := s.again()
		if err != nil {
			return nil, err
		}
		s.accelerator, s.lost = opened, false
	}
	return s.accelerator.NewScorer(g, between, c, p)
}

// String says in a line what was selected and why; it is empty if the processor is the user's choice.
func (s *Selection) String() string { return s.text }

// FallBack selects the processor and returns true if the user left the choice open, unless the device was lost. err is
// the error of making a trainer or a scorer, or that the memory is too small for what they do first.
func (s *Selection) FallBack(err error) bool {
	if s.accelerator == nil || !s.optional || errors.Is(err, device.ErrLost) {
		return false
	}
	*s = onCPU(remedy.Without(err))
	return true
}

// Discard closes a device that was lost, so that a later Select or NewScorer opens it again. It does nothing
// after other errors.
func (s *Selection) Discard(err error) {
	if s.accelerator != nil && errors.Is(err, device.ErrLost) {
		_ = s.accelerator.Close() // it is lost already
		s.lost = true
	}
}
