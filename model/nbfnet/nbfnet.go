package nbfnet

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/pytorch"
	"tagnet/model/configuration"
	"tagnet/model/parameters"
)

// Weights are those of a state_dict of NBFNet-PyG.
type Weights struct {
	// Layers and Dim are the hyperparameters of these names, Relations the number of base relations.
	Layers, Dim, Relations int
	// PNA reports whether messages are aggregated by PNA; if not, by sum, mean or max.
	PNA bool
	// Dependent reports whether the embeddings of relations depend on the query.
	Dependent bool

	tensors map[string]pytorch.Tensor
}

// Options are what a state_dict does not show: the message function and the aggregate, as configuration names
// them. An empty aggregate is PNA, if the state_dict shows that.
type Options struct{ Message, Aggregate string }

// OptionError is the error of an option that is missing or does not fit the weights.
type OptionError struct {
	// Option is "message" or "aggregate".
	Option string
	// Reason says what is wrong and what to give instead.
	Reason string
}

// Error names the option first.
func (e *OptionError) Error() string { return e.Option + ": " + e.Reason }

// Read reads the weights of a checkpoint of so many bytes, {"model": state_dict, ...} or a state_dict.
func Read(r io.ReaderAt, size int64) (*Weights, error) {
	f, err := pytorch.Open(r, size)
	if err != nil {
		return nil, err
	}
	list, err := f.StateDict("model")
	if err != nil {
		return nil, err
	}
	w := &Weights{tensors: map[string]pytorch.Tensor{}}
	for _, t := range list {
		w.tensors[t.Name] = t
	}
	if err := w.inspect(); err != nil {
		return nil, err
	}
	if err := w.checkLayout(); err != nil {
		return nil, err
	}
	if err := f.Load(list); err != nil {
		return nil, err
	}
	for _, t := range list {
		w.tensors[t.Name] = t
	}
	return w, nil
}

// inspect derives the fields from the names and shapes of the tensors.
func (w *Weights) inspect() error {
	query, ok := w.shape("query.weight", 2)
	if !ok || query[0] == 0 || query[0]%2 != 0 || query[1] == 0 {
		return fmt.Errorf("it is no NBFNet of NBFNet-PyG: it has no tensor query.weight of shape [relations and inverses, dim]%s", w.others())
	}
	w.Relations, w.Dim = query[0]/2, query[1]
	for w.has(fmt.Sprintf("layers.%d.linear.weight", w.Layers)) {
		w.Layers++
	}
	if w.Layers == 0 {
		return fmt.Errorf("it is no NBFNet of NBFNet-PyG: it has no tensor layers.0.linear.weight%s", w.others())
	}
	linear, ok := w.shape("layers.0.linear.weight", 2)
	if !ok || linear[0] != w.Dim || linear[1] != 2*w.Dim && linear[1] != 13*w.Dim {
		return fmt.Errorf("tensor layers.0.linear.weight has shape %v, want [%d %d] (PNA) or [%[2]d %[4]d] (sum, mean, max): "+
			"only layers of one width can be read", linear, w.Dim, 13*w.Dim, 2*w.Dim)
	}
	w.PNA = linear[1] == 13*w.Dim
	w.Dependent = w.has("layers.0.relation_linear.weight")
	return w.checkOptions()
}

// others names a tensor of another model, for messages.
func (w *Weights) others() string {
	if len(w.tensors) == 0 {
		return " (it has no tensors)"
	}
	return fmt.Sprintf(" (it has %.80q)", slices.Min(slices.Collect(maps.Keys(w.tensors))))
}

// checkOptions explains the options of NBFNet-PyG that this model lacks.
func (w *Weights) checkOptions() error {
	if !w.has("layers.0.layer_norm.weight") {
		return fmt.Errorf("it has no tensor layers.0.layer_norm.weight: it was trained with layer_norm: no, and tagnet normalizes in each layer")
	}
	if w.has("layers.0.relation_linear.weight") && w.has("layers.0.relation.weight") {
		return fmt.Errorf("it has both layers.0.relation_linear.weight and layers.0.relation.weight")
	}
	first, ok := w.shape("mlp.0.weight", 2)
	if ok && w.Layers > 1 && slices.Equal(first, []int{(w.Layers + 1) * w.Dim, (w.Layers + 1) * w.Dim}) {
		return fmt.Errorf("tensor mlp.0.weight has shape %v: it was trained with concat_hidden: yes, and tagnet scores the last layer's state", first)
	}
	if depth := w.mlpLayers(); depth > 0 && depth != 2 {
		return fmt.Errorf("its mlp has %d layers: it was trained with num_mlp_layer: %[1]d, and tagnet's has 2", depth)
	}
	return nil
}

// mlpLayers returns the number of linear maps of the MLP.
func (w *Weights) mlpLayers() int {
	n := 0
	for w.has("mlp." + strconv.Itoa(2*n) + ".weight") {
		n++
	}
	return n
}

func (w *Weights) has(name string) bool { _, ok := w.tensors[name]; return ok }

// shape returns the dimensions of a tensor, and whether it exists with so many.
func (w *Weights) shape(name string, dimensions int) ([]int, bool) {
	t, ok := w.tensors[name]
	return t.Shape, ok && len(t.Shape) == dimensions
}

// checkLayout compares names and shapes of all tensors with those of the model.
func (w *Weights) checkLayout() error {
	c := configuration.Default()
	c.Aggregate = configuration.AggregateSum
	if w.PNA {
		c.Aggregate = configuration.AggregatePNA
	}
	unknown := maps.Clone(w.tensors)
	for _, want := range parameters.Layout(w.Architecture(c), 2*w.Relations) {
		t, ok := w.tensors[want.Name]
		if !ok {
			return fmt.Errorf("it has no tensor %s of shape %v", want.Name, want.Shape)
		}
		if !slices.Equal(t.Shape, want.Shape) {
			return fmt.Errorf("tensor %s has shape %v, want %v", want.Name, t.Shape, want.Shape)
		}
		delete(unknown, want.Name)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("it has a tensor %.80q, which NBFNet-PyG's model of %d layers lacks", slices.Min(slices.Collect(maps.Keys(unknown))), w.Layers)
	}
	return nil
}

// Architecture returns a configuration with the fields that the state_dict decides, and the policy full.
func (w *Weights) Architecture(c configuration.Configuration) configuration.Configuration {
	c.Layers, c.Dim, c.Dependent = w.Layers, w.Dim, w.Dependent
	c.Policy, c.DeltaMode, c.Attention = configuration.PolicyFull, configuration.DeltaFixed, ""
	c.Bias, c.DegreeMessages = true, false
	return c
}

// Configuration returns a configuration with the fields that the state_dict and the options decide: the model that
// computes the scores of NBFNet-PyG. The error of an option that is missing or impossible is an *OptionError.
func (w *Weights) Configuration(c configuration.Configuration, o Options) (configuration.Configuration, error) {
	c = w.Architecture(c)
	if c.Aggregate = o.Aggregate; o.Aggregate == "" && w.PNA {
		c.Aggregate = configuration.AggregatePNA
	}
	c.Message = o.Message
	switch {
	case c.Aggregate == "":
		return c, &OptionError{"aggregate", "the weights do not show it: give sum, mean or max, the aggregate_func of their configuration"}
	case w.PNA != (c.Aggregate == configuration.AggregatePNA):
		want := "sum, mean or max"
		if w.PNA {
			want = configuration.AggregatePNA
		}
		return c, &OptionError{"aggregate", fmt.Sprintf("%s does not fit the shapes of the weights, want %s", c.Aggregate, want)}
	case c.Message == "":
		return c, &OptionError{"message", "the weights do not show it: give distmult, transe or rotate, the message_func of their configuration"}
	case c.Message == configuration.MessageTransE && w.PNA:
		return c, &OptionError{"message", "with pna, NBFNet-PyG computes the deviation of transe's messages from x²+w² instead of (x+w)²: such weights cannot be used"}
	case c.Message == configuration.MessageRotatE && w.Dim%2 != 0:
		return c, &OptionError{"message", fmt.Sprintf("rotate wants an even dim, the weights have %d", w.Dim)}
	}
	return c, c.Validate()
}

// Parameters returns the parameters of a model with a configuration that Configuration returned, over the base
// relations of a graph. listed names the base relations of the weights in their order. Those that the graph lacks are
// left out and returned as unused; one of the graph that the weights lack is an error.
func (w *Weights) Parameters(c configuration.Configuration, listed, graph []string) (set *parameters.Set[float32], unused []string, err error) {
	if len(listed) != w.Relations {
		return nil, nil, fmt.Errorf("%d relations are listed, the weights have %d", len(listed), w.Relations)
	}
	if different := len(slices.Compact(slices.Sorted(slices.Values(listed)))); different != len(listed) {
		return nil, nil, fmt.Errorf("%d different relations are listed, the weights have %d", different, w.Relations)
	}
	rows, unknown, unused := parameters.MatchRelations(listed, graph)
	if len(unknown) > 0 {
		return nil, nil, fmt.Errorf("the graph's relation %q is not listed; closest: %s", unknown[0], quoted(names.Closest(unknown[0], listed, 3)))
	}
	set = parameters.NewSet[float32](parameters.Layout(c, 2*len(graph)))
	for _, t := range set.Tensors {
		from := w.tensors[t.Name].Data
		if parameters.OfRelations(t.Name) {
			crossed := t.Name != "query.weight" && c.Message != configuration.MessageRotatE
			parameters.CopyRelations(t.Data, from, w.Relations, rows, crossed)
		} else {
			copy(t.Data, from)
		}
	}
	return set, unused, nil
}

// quoted lists names.
func quoted(list []string) string {
	shown := make([]string, len(list))
	for i, name := range list {
		shown[i] = strconv.Quote(name)
	}
	return strings.Join(shown, ", ")
}
