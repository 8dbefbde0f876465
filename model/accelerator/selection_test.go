package accelerator_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"tagnet/formats/remedy"
	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
)

// failing returns a function for Devices.Fail by which one operation has an error.
func failing(operation string, err error) func(string) error {
	return func(name string) error {
		if name == operation {
			return err
		}
		return nil
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	const used = "computing on cuda:0 (imaginary)"
	unsupported := remedy.Errorf(device.UseCPU, "policy astar is not computed there")
	wrapped := func(err error) error { return fmt.Errorf("imaginary:0: %w", err) }
	for _, test := range []struct {
		choice            string
		unsupported, open error
		want, err         string // what is said, and the error
		device            bool
	}{
		{choice: "cpu"},
		{choice: "cpu", open: device.ErrNoDriver},
		{choice: "auto", want: used, device: true},
		{choice: "cuda", want: used, device: true},
		{choice: "cuda:2", want: "computing on cuda:2 (imaginary)", device: true},
		{choice: "cuda:all", want: "computing on cuda:0 (imaginary), cuda:1 (imaginary), cuda:2 (imaginary)", device: true},
		{choice: "cuda:all", open: wrapped(device.ErrNoDriver), err: "imaginary:0: no CUDA driver"},
		{choice: "auto", open: wrapped(device.ErrNoDriver), want: "computing on the CPU: no CUDA driver"},
		{choice: "auto", open: wrapped(device.ErrNoDevice), want: "computing on the CPU: imaginary:0: no CUDA device"},
		{choice: "auto", open: device.ErrNoDriver, unsupported: unsupported, want: "computing on the CPU: policy astar is not computed there"},
		{choice: "auto", open: wrapped(device.ErrOldDriver), want: "computing on the CPU: imaginary:0: the CUDA driver is too old"},
		{choice: "auto", open: wrapped(device.ErrMemory), want: "computing on the CPU: imaginary:0: out of device memory"},
		{choice: "auto", unsupported: unsupported, want: "computing on the CPU: policy astar is not computed there"},
		{choice: "cuda", open: wrapped(device.ErrNoDriver), err: "imaginary:0: no CUDA driver"},
		{choice: "cuda:1", open: wrapped(device.ErrNoDevice), err: "imaginary:0: no CUDA device"},
		{choice: "cuda", unsupported: unsupported, err: "policy astar is not computed there; use --device cpu"},
	} {
		choice, err := device.Parse(test.choice)
		if err != nil {
			t.Fatal(err)
		}
		devices := &learntest.Devices{Number: 3, Unsupported: test.unsupported, Fail: failing("open", test.open)}
		s, err := accelerator.Select(devices, choice, configuration.Default())
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != test.err || s.String() != test.want || (s.Accelerator() != nil) != test.device {
			t.Errorf("%s, %v, %v: %q, error %q, device %v; want %q, %q, %v",
				test.choice, test.unsupported, test.open, s.String(), said, s.Accelerator() != nil, test.want, test.err, test.device)
		}
		opened, closed := 0, 0
		for _, operation := range devices.Operations {
			switch operation {
			case "open":
				opened++
			case "close":
				closed++
			}
		}
		if opened-closed != s.Devices() {
			t.Errorf("%s: opened %d and closed %d devices, and uses one: %v", test.choice, opened, closed, test.device)
		}
	}
}

func TestFallBack(t *testing.T) {
	t.Parallel()
	full, lost := remedy.Errorf(device.UseCPU, "imaginary:0: %w: 2 GiB wanted", device.ErrMemory), fmt.Errorf("cuda:0: %w", device.ErrLost)
	for _, test := range []struct {
		mode device.Mode
		err  error
		want bool
	}{
		{device.Auto, full, true}, {device.Auto, lost, false}, {device.CUDA, full, false}, {device.CPU, full, false},
		{device.Auto, errors.New("imaginary:0: out of device memory: 2 GiB wanted"), true},
	} {
		s, err := accelerator.Select(&learntest.Devices{}, device.Choice{Mode: test.mode}, configuration.Default())
		if err != nil {
			t.Fatal(err)
		}
		had := s.Accelerator() != nil
		got := s.FallBack(test.err)
		if got != test.want || (s.Accelerator() != nil) != (had && !got) {
			t.Errorf("mode %d, %v: falls back %v, want %v; now %q", test.mode, test.err, got, test.want, s.String())
		}
		if want := "computing on the CPU: imaginary:0: out of device memory: 2 GiB wanted"; got && s.String() != want {
			t.Errorf("says %q, want %q", s.String(), want)
		}
	}
}

// TestLostDeviceIsOpenedAgain gives up a device by an error: the next scorer is on it, opened again where it was lost.
func TestLostDeviceIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for err, want := range map[error][]string{device.ErrLost: {"open", "close", "open"}, device.ErrMemory: {"open"}} {
		refused := errors.New("no scorer")
		devices := &learntest.Devices{Fail: failing("scorer", refused)}
		s, selecting := accelerator.Select(devices, device.Choice{Mode: device.CUDA}, configuration.Default())
		if selecting != nil {
			t.Fatal(selecting)
		}
		s.Discard(fmt.Errorf("scoring: %w", err))
		if _, got := s.NewScorer(nil, nil, configuration.Default(), nil); !errors.Is(got, refused) {
			t.Errorf("%v: error %v, want that of the device", err, got)
		}
		if !slices.Equal(devices.Operations, want) {
			t.Errorf("%v: operations %q, want %q", err, devices.Operations, want)
		}
	}
}
