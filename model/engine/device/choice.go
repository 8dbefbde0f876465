package device

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Mode says whether a model is computed on a device.
type Mode int

// CPU computes on the processor, CUDA on a device, and Auto on a device where one can be used, else on the processor.
const (
	CPU Mode = iota
	CUDA
	Auto
)

// Choice says which processor or devices a user selected: cpu, cuda, cuda:n, cuda:all or auto. The zero Choice is the
// CPU. A *Choice is a flag's value.
type Choice struct {
	Mode Mode
	// Ordinal is n in cuda:n.
	Ordinal int
	// All chooses all devices of the machine.
	All bool
}

// Parse returns the choice that a text names. Its error says what is wanted.
func Parse(text string) (Choice, error) {
	name, ordinal, numbered := strings.Cut(text, ":")
	switch {
	case text == "cpu":
		return Choice{}, nil
	case text == "auto":
		return Choice{Mode: Auto}, nil
	case text == "cuda":
		return Choice{Mode: CUDA}, nil
	case text == "cuda:all":
		return Choice{Mode: CUDA, All: true}, nil
	case name == "cuda" && numbered:
		if n, err := strconv.ParseUint(ordinal, 10, 16); err == nil {
			return Choice{Mode: CUDA, Ordinal: int(n)}, nil
		}
	}
	return Choice{}, errors.New("want auto, cpu, cuda, cuda:n, the number of a device from 0, or cuda:all")
}

// String returns the text that Parse reads.
func (c Choice) String() string {
	switch {
	case c.Mode == Auto:
		return "auto"
	case c.Mode == CPU:
		return "cpu"
	case c.All:
		return "cuda:all"
	case c.Ordinal == 0:
		return "cuda"
	}
	return fmt.Sprintf("cuda:%d", c.Ordinal)
}

// Set makes c the choice that a text names.
func (c *Choice) Set(text string) error {
	parsed, err := Parse(text)
	if err == nil {
		*c = parsed
	}
	return err
}
