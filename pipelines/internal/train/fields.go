package train

import (
	"flag"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"tagnet/model/configuration"
	"tagnet/pipelines/internal/command"
)

// usages explain the fields of a configuration by their names, each in a line.
var usages = map[string]string{
	"layers":                  "propagation layers, and the most hops to an answer",
	"dim":                     "dimensions of every state",
	"policy":                  "`window|full|astar|window+astar`: who sends to whom (TAGNet, NBFNet, A*Net, both)",
	"delta":                   "layers that an entity still listens after it is first reached",
	"delta_mode":              "`fixed|specific`: the last state, or an attention over the window's states",
	"attention":               "`own|shared`: the attention's MLP, for --delta_mode specific",
	"temperature":             "of the attention's softmax",
	"node_ratio":              "A*Net: share of the entities that may send in a layer",
	"degree_ratio":            "A*Net: scales how many edges they send along",
	"evaluation_node_ratio":   "A*Net: node_ratio when nothing is trained; 0 keeps it",
	"evaluation_degree_ratio": "A*Net: degree_ratio when nothing is trained; 0 keeps it",
	"aggregate":               "`pna|sum|mean|max`: how messages are reduced",
	"message":                 "`distmult|transe|rotate`: how a state and a relation make a message",
	"dependent":               "relation embeddings depend on the query",
	"bias":                    "bias in the node update, and a normalization that is affine",
	"degree_messages":         "a learned message stands in for each that the window leaves out",
	"remove":                  "`triple|one_hop|none`: what leaves the graph of a training query",
	"dropout":                 "share of each node update that is dropped while training",
	"negatives":               "negatives per training query",
	"strict_negatives":        "never draw a known answer as a negative",
	"adversarial_temperature": "weights hard negatives more; 0 weights all alike",
	"learning_rate":           "Adam's, in the first epoch",
	"learning_rate_decay":     "multiplies the learning rate after each epoch",
	"weight_decay":            "added to the gradient, times the weight; with ULTRA's weights decoupled from it, as AdamW's",
	"batch_size":              "queries per step",
	"epochs":                  "passes over the training facts",
	"share_states":            "compute states that are equal on paper once: faster, and the same model but for rounding; with --dropout 0, and --policy full only with --dependent=false",
	"weight_average":          "share of the average over earlier epochs in the weights that an epoch leaves to be validated and scored with; the training stays the same",
	"batching":                "`random|grouped`: batches over all queries, or whole groups that share a source",
}

// field is a flag for one field of a configuration. It keeps what was given until the preset,
// which it changes, is known.
type field struct {
	configuration.Field
	start string // the default, for -h
	given string // JSON, empty if not given
	text  string // the same as the user wrote it
}

// fields makes a flag for every field of a configuration.
func fields() []*field {
	var list []*field
	for _, f := range configuration.Fields() {
		list = append(list, &field{Field: f, start: fmt.Sprint(f.Of(configuration.Default()))})
	}
	return list
}

// register registers the flag, with the range of a number.
func (f *field) register(set *flag.FlagSet) {
	usage := usages[f.Name]
	switch f.Kind {
	case reflect.Int:
		usage = "`int`: " + usage
	case reflect.Float64:
		usage = "`float`: " + usage
	}
	if of := configuration.Range(f.Name); of != "" {
		usage += "; " + of
	}
	set.Var(f, f.Name, usage)
}

// String, Set and IsBoolFlag make a flag.Value of a field.
func (f *field) String() string {
	if f.given == "" {
		return f.start
	}
	return f.text
}

// Set takes a value of the field's type.
func (f *field) Set(text string) error {
	encoded, err := f.Encode(text)
	if err != nil {
		return err
	}
	f.given, f.text = string(encoded), text
	return nil
}

// IsBoolFlag lets a flag stand without a value.
func (f *field) IsBoolFlag() bool { return f.Kind == reflect.Bool }

// configure returns a configuration with the fields that were given.
func configure(c configuration.Configuration, fields []*field) (configuration.Configuration, error) {
	for _, f := range fields {
		if f.given == "" {
			continue
		}
		if err := c.Parse([]byte("{" + strconv.Quote(f.Name) + ":" + f.given + "}")); err != nil {
			return c, command.Usage("--%s: %v", f.Name, err)
		}
	}
	if err := c.Validate(); err != nil {
		// Each line names a field, and so a flag.
		return c, command.Usage("--%s", strings.ReplaceAll(err.Error(), "\n", "\n--"))
	}
	return c, nil
}
