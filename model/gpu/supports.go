package gpu

import (
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
	"tagnet/model/weights/configuration"
)

// maxDim is the largest dimension that the kernels are compiled for.
const maxDim = 128

// reductions are the numbers that the kernels have for the aggregates.
var reductions = map[string]int32{
	configuration.AggregatePNA: 0, configuration.AggregateSum: 1, configuration.AggregateMean: 2, configuration.AggregateMax: 3,
}

// lossKernels are the kernels of the losses.
var lossKernels = map[string]string{configuration.LossBinary: "binary_loss", configuration.LossSoftmax: "softmax_loss"}

// computed has the values of each hyperparameter that devices compute. A hyperparameter that it lacks is refused with
// every value: a new hyperparameter, and a new value of an old one, are listed here once the kernels compute them.
var computed = map[string]accepted{
	"relations":               oneOf("", configuration.RelationsLinear, configuration.RelationsTable, configuration.RelationsGraph),
	"relation_layers":         free,
	"layers":                  free,
	"dim":                     atMost(maxDim),
	"policy":                  oneOf(configuration.PolicyWindow, configuration.PolicyFull),
	"delta":                   free,
	"delta_mode":              oneOf(configuration.DeltaFixed, configuration.DeltaSpecific),
	"attention":               oneOf("", configuration.AttentionOwn, configuration.AttentionShared),
	"temperature":             free,
	"node_ratio":              free, // A*Net's four are not used by other policies
	"degree_ratio":            free,
	"evaluation_node_ratio":   free,
	"evaluation_degree_ratio": free,
	"aggregate":               oneOf(configuration.AggregatePNA, configuration.AggregateSum, configuration.AggregateMean, configuration.AggregateMax),
	"message":                 oneOf(configuration.MessageDistMult),
	"dependent":               oneOf(false, true),
	"bias":                    oneOf(false, true),
	"degree_messages":         oneOf(false, true),
	"reach":                   oneOf(0),
	"epochs":                  free,
	"queries_per_epoch":       free,
	"batch_size":              free,
	"answers_per_query":       oneOf(0, 1),
	"removed_share":           free, // one answer does not use it
	"batching":                oneOf(configuration.BatchingRandom, configuration.BatchingGrouped, configuration.BatchingRelation),
	"share_states":            oneOf(false, true), // equal states are computed for each entity
	"learning_rate":           free,
	"learning_rate_decay":     free,
	"least_learning_rate":     free,
	"weight_decay":            free,
	"weight_average":          free,
	"loss":                    oneOf(configuration.LossBinary, configuration.LossSoftmax),
	"dropout":                 free,
	"remove":                  oneOf(configuration.RemoveTriple, configuration.RemoveOneHop, configuration.RemoveNone),
	"negatives":               free,
	"strict_negatives":        oneOf(false, true),
	"reach_negatives":         oneOf(0.),
	"adversarial_temperature": free,
}

// accepted are the values of a hyperparameter that devices compute. The zero value has none.
type accepted struct {
	list []any // the only ones
	most int   // of a whole number without a list; 0: no bound
	free bool  // any number
}

// free has all numbers.
var free = accepted{free: true}

func oneOf[T any](list ...T) (v accepted) {
	for _, value := range list {
		v.list = append(v.list, value)
	}
	return v
}

// atMost has the whole numbers up to one.
func atMost(most int) accepted { return accepted{most: most} }

// has reports whether devices compute a value.
func (v accepted) has(value any) bool {
	number := false
	switch x := value.(type) {
	case int:
		number = v.free || v.most > 0 && x <= v.most
	case float64:
		number = v.free
	}
	return number || slices.Contains(v.list, value)
}

// String describes the values.
func (v accepted) String() string {
	if v.most > 0 {
		return fmt.Sprintf("1 to %d", v.most)
	}
	var texts []string
	for _, value := range v.list {
		if value != "" {
			texts = append(texts, fmt.Sprint(value))
		}
	}
	return strings.Join(texts, ", ")
}

// UnsupportedError reports a configuration that kernels do not compute.
type UnsupportedError struct {
	// Field is the configuration's field, Value its value, and Want what kernels compute; empty for a field of which
	// they compute nothing.
	Field string
	Value any
	Want  string
}

// Error names the field.
func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("%s %v runs on the CPU alone", e.Field, e.Value)
	if e.Want != "" {
		text += fmt.Sprintf(" (a device takes %s)", e.Want)
	}
	return text
}

// Supports returns nil if a device computes configurations like c, else an UnsupportedError. It refuses
// what it does not know.
func Supports(c configuration.Configuration) error { return supports(configuration.Fields(), c) }

// supports checks the hyperparameters of a list.
func supports(fields []configuration.Field, c configuration.Configuration) error {
	for _, f := range fields {
		if v, value := computed[f.Name], f.Of(c); !v.has(value) {
			return remedy.Errorf(device.UseCPU, "%w", &UnsupportedError{f.Name, value, v.String()})
		}
	}
	return nil
}
