package cuda

import (
	"fmt"
	"strings"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/cuda"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/stages/accelerator"
)

func init() { accelerator.Register(Devices{Driver: cuda.Open}) }

// Devices are devices that run the engine of package gpu.
type Devices struct {
	// Driver opens one.
	Driver func(ordinal int) (device.Device, error)
}

// Supports is gpu.Supports.
func (Devices) Supports(c configuration.Configuration) error { return gpu.Supports(c) }

// Open returns the device of that number.
func (d Devices) Open(ordinal int) (accelerator.Accelerator, error) {
	opened, err := d.Driver(ordinal)
	if err != nil {
		return nil, err
	}
	return engine{CompileOnce(opened)}, nil
}

// CompileOnce returns a device that compiles each PTX once.
func CompileOnce(d device.Device) device.Device { return &compiled{d, map[string][]device.Kernel{}} }

// compiled is a device that compiles each PTX once: a training makes a trainer and a scorer in each epoch.
type compiled struct {
	device.Device
	kernels map[string][]device.Kernel // by PTX and names
}

// Load returns the kernels of an earlier call with the same arguments, or compiles them.
func (c *compiled) Load(ptx string, names ...string) ([]device.Kernel, error) {
	key := strings.Join(names, " ") + "\n" + ptx
	if kernels, ok := c.kernels[key]; ok {
		return kernels, nil
	}
	kernels, err := c.Device.Load(ptx, names...)
	if err == nil {
		c.kernels[key] = kernels
	}
	return kernels, err
}

// engine computes on a device.
type engine struct{ device device.Device }

func (e engine) Name() string { return "cuda" }

func (e engine) String() string {
	p := e.device.Properties()
	return fmt.Sprintf("cuda:%d (%s)", p.Ordinal, p.Name)
}

func (e engine) NewTrainer(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *optimizer.Adam) (accelerator.Trainer, error) {
	t, err := gpu.NewTrainer(e.device, g, c, p, solver)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (e engine) NewScorer(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float32]) (accelerator.Scorer, error) {
	s, err := gpu.NewScorer(e.device, g, c, p)
	if err != nil {
		return nil, err
	}
	return scorer{s}, nil
}

func (e engine) Close() error { return e.device.Close() }

// scorer converts what a gpu.Scorer takes and returns.
type scorer struct{ *gpu.Scorer }

func (s scorer) Score(queries []accelerator.Query, best int) ([]accelerator.Answered, error) {
	list := make([]gpu.Query, len(queries))
	for i, q := range queries {
		list[i] = gpu.Query(q)
	}
	answered, err := s.Scorer.Score(list, best)
	if err != nil {
		return nil, err
	}
	out := make([]accelerator.Answered, len(answered))
	for i, a := range answered {
		out[i] = accelerator.Answered{Scores: a.Scores, Ranks: a.Ranks, Distances: a.Distances, Messages: a.Messages}
		for _, c := range a.Best {
			out[i].Best = append(out[i].Best, accelerator.Candidate(c))
		}
	}
	return out, nil
}
