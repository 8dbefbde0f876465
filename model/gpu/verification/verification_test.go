package verification

import (
	"testing"

	"tagnet/model/device"
	"tagnet/model/device/interpreter"
)

func TestRunOnTheInterpreter(t *testing.T) {
	t.Parallel()
	verified, skipped := 0, 0
	err := Run(interpreter.New(interpreter.Seed(2)), func(r Result) {
		if r.Skipped != nil {
			skipped++
			return
		}
		verified++
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", r.Case, err)
		}
	})
	if err != nil || verified < 4 || skipped == 0 {
		t.Errorf("%v; verified %d cases, skipped %d", err, verified, skipped)
	}
}

// inexact is a device whose copies to the host are wrong in the last bit.
type inexact struct {
	device.Device
	copies, each int
}

func (d *inexact) CopyOut(to []byte, from device.Pointer) error {
	err := d.Device.CopyOut(to, from)
	if d.copies++; len(to) > 1000 && d.copies%d.each == 0 {
		to[len(to)-4] ^= 1
	}
	return err
}

func TestDifferencesAreFound(t *testing.T) {
	t.Parallel()
	repeated, interpreted := 0, 0
	err := Run(&inexact{Device: interpreter.New(interpreter.Seed(1)), each: 5}, func(r Result) {
		if r.Repeated != nil {
			repeated++
		}
		if r.Interpreted != nil {
			interpreted++
		}
	})
	if err != nil || interpreted == 0 || repeated == 0 {
		t.Errorf("%v; %d cases differ from the interpreter, %d from the second run", err, interpreted, repeated)
	}
}
