package train

import (
	"context"
	"errors"
	"testing"
	"time"

	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/learn/learntest"
)

// use makes devices those of this machine until the test ends.
func use(t *testing.T, devices accelerator.Devices) {
	before := accelerator.Process
	t.Cleanup(func() { accelerator.Process = before })
	accelerator.Process = devices
}

// TestPool takes devices of a machine of two.
func TestPool(t *testing.T) {
	use(t, &learntest.Devices{Number: 2})
	p, all, second := newPool(), device.Choice{Mode: device.CUDA, All: true}, device.Choice{Mode: device.CUDA, Ordinal: 1}
	take := func(choice device.Choice) int {
		t.Helper()
		ordinal, err := p.take(t.Context(), choice)
		if err != nil {
			t.Fatal(err)
		}
		return ordinal
	}
	waits := func(what string, choice device.Choice) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if ordinal, err := p.take(ctx, choice); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: device %d, %v, want to wait", what, ordinal, err)
		}
	}
	if a, b := take(all), take(all); a != 0 || b != 1 {
		t.Errorf("devices %d and %d, want 0 and 1", a, b)
	}
	waits("both are taken", all)
	waits("the second is taken", second)
	waiting := make(chan int)
	go func() { waiting <- take(all) }()
	p.giveBack(1, false)
	if got := <-waiting; got != 1 {
		t.Errorf("device %d was given back, %d is taken", 1, got)
	}
	p.giveBack(0, true)
	waits("the first was lost", all)
	p.giveBack(1, false)
	if got := take(all); got != 1 {
		t.Errorf("device %d, want the one that was not lost", got)
	}
	p.giveBack(1, true)
	if got := take(second); got != 1 { // the user's choice
		t.Errorf("device %d, want 1", got)
	}
	p.giveBack(1, true)
	take(all) // both were lost: one of them may work again
	p.forget()
	if got := take(all); got != 0 {
		t.Errorf("device %d, want 0", got)
	}
}

// TestPoolOfNoDevices expects the error of opening the first one, and that of a device that cannot be used.
func TestPoolOfNoDevices(t *testing.T) {
	devices := &learntest.Devices{Fail: func(string) error { return device.ErrNoDriver }}
	use(t, devices)
	p, all := newPool(), device.Choice{Mode: device.CUDA, All: true}
	if _, err := p.take(t.Context(), all); !errors.Is(err, device.ErrNoDriver) {
		t.Errorf("error %v, want %v", err, device.ErrNoDriver)
	}
	devices.Fail = nil
	if _, err := p.take(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	devices.Fail = func(string) error { return device.ErrMemory }
	if _, err := p.take(t.Context(), all); !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v, want %v", err, device.ErrMemory)
	}
}
