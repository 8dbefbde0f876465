package gpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/model/configuration"
	"tagnet/model/gpu/kernels"
)

// maxDim is the largest dimension that the kernels are compiled for.
const maxDim = 128

// reductions are the numbers that the kernels have for the aggregates.
var reductions = map[string]int32{
	configuration.AggregatePNA: 0, configuration.AggregateSum: 1, configuration.AggregateMean: 2, configuration.AggregateMax: 3,
}

// UnsupportedError reports a configuration that kernels do not compute.
type UnsupportedError struct {
	// Field is the configuration's field, Value its value, and Want what kernels compute.
	Field string
	Value any
	Want  string
}

// Error names the field.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s %v runs on the CPU alone (a device takes %s)", e.Field, e.Value, e.Want)
}

// Supports returns nil if a device computes configurations like c, else an UnsupportedError.
func Supports(c configuration.Configuration) error {
	cpuOnly := func(field string, value any, want string) error {
		return remedy.Errorf("use --device cpu", "%w", &UnsupportedError{field, value, want})
	}
	_, computes := reductions[c.Aggregate]
	sources := []string{configuration.RelationsTable, configuration.RelationsLinear, configuration.RelationsGraph}
	switch {
	case !slices.Contains(sources, c.Source()):
		return cpuOnly("relations", c.Source(), strings.Join(sources, ", "))
	case c.Incidences:
		return cpuOnly("ground", c.Incidences, "false")
	case c.Prioritized():
		return cpuOnly("policy", c.Policy, configuration.PolicyWindow+" or "+configuration.PolicyFull)
	case !slices.Contains(kernels.Messages, c.Message):
		return cpuOnly("message", c.Message, strings.Join(kernels.Messages, ", "))
	case !computes:
		return cpuOnly("aggregate", c.Aggregate, strings.Join(slices.Sorted(maps.Keys(reductions)), ", "))
	case c.Dim > maxDim:
		return cpuOnly("dim", c.Dim, fmt.Sprintf("1 to %d", maxDim))
	}
	return nil
}
