package gpu

import (
	"slices"
	"strings"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/gpu/interpreter"
)

// planted is an interpreter with a fault in what the engine gives it.
type planted struct {
	*interpreter.Device
	barrier string // the kernel that loses its first barrier
	early   bool   // whether later work of a stream does not wait for marks
	more    string // the kernel whose first number is larger by one
	names   []string
}

func (d *planted) Load(ptx string, names ...string) ([]device.Kernel, error) {
	d.names = append(d.names, names...)
	if slices.Contains(names, d.barrier) {
		at := strings.Index(ptx, ".entry "+d.barrier+"(")
		ptx = ptx[:at] + strings.Replace(ptx[at:], "bar.sync", "// bar.sync", 1)
	}
	return d.Device.Load(ptx, names...)
}

func (d *planted) Wait(m device.Mark) error {
	if d.early {
		return nil
	}
	return d.Device.Wait(m)
}

func (d *planted) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if d.more != "" && d.names[k-1] == d.more {
		arguments = slices.Clone(arguments)
		arguments[1] = arguments[1].(int32) + 1
	}
	return d.Device.Launch(k, blocks, threads, arguments...)
}

// TestPlantedFaults makes a step with a fault that a card would not report, and checks that the interpreter does.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		planted planted
		want    string
	}{
		"none":                           {planted{}, ""},
		"a race":                         {planted{barrier: "aggregate"}, "races"},
		"a missing wait between streams": {planted{early: true}, "which nothing waits for"},
		"an access out of bounds":        {planted{more: "adam"}, "adam, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenarios(t)[0] // its hubs are computed by blocks
			d := test.planted
			d.Device = interpreter.New(ordered...)
			trainer, err := NewTrainer(&d, s.graph, nil, s.configuration, s.parameters(), s.solver())
			if err != nil {
				t.Fatal(err)
			}
			_, err = trainer.Step(s.examples, 1)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
