package configuration

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The groups of hyperparameters, headings of a command's help.
const (
	Model    = "model"
	Training = "training"
)

// Field is a hyperparameter.
type Field struct {
	// Name is the key in JSON, and the name of the flag if it IsFlag.
	Name string
	// Group is Model or Training.
	Group string
	// Default is its value in Default: an int, a float64, a bool or a string.
	Default any
	values  values
	changes bool // a resumed training may have another value
	help    string
	at      func(*Configuration) any // returns a pointer to the field
}

// hyperparameters has a line for each hyperparameter, in the order of a command's help. Rules for
// combinations are in Violations.
var hyperparameters = []Field{
	// name, group, default, values, whether a resumed training may change it, help, field
	{"relations", Model, "", oneOf(RelationsLinear, RelationsTable, RelationsGraph).where(Configuration.relationsGiven), no,
		"where relation embeddings come from; a foundation model, which answers on any graph, has graph; as the preset says, linear without one",
		func(c *Configuration) any { return &c.Relations }},
	{"relation_layers", Model, 0, between(0, MaxLayers).inPresets(), no, "propagation layers between relations, for relations graph; 0 takes as many as layers",
		func(c *Configuration) any { return &c.RelationLayers }},
	{"layers", Model, 6, between(1, MaxLayers), no, "propagation layers, and the most hops to an answer", func(c *Configuration) any { return &c.Layers }},
	{"dim", Model, 32, between(1, 4096), no, "dimensions of every state", func(c *Configuration) any { return &c.Dim }},
	{"policy", Model, PolicyWindow, oneOf(PolicyWindow, PolicyFull, PolicyAStar, PolicyWindowWithAStar), no, "who sends to whom (TAGNet, NBFNet, A*Net, both)",
		func(c *Configuration) any { return &c.Policy }},
	{"delta", Model, 2, atLeast(0), no, "layers that an entity still listens after it is first reached", func(c *Configuration) any { return &c.Delta }},
	{"delta_mode", Model, DeltaFixed, oneOf(DeltaFixed, DeltaSpecific), no, "the last state, or an attention over the window's states",
		func(c *Configuration) any { return &c.DeltaMode }},
	{"attention", Model, "", oneOf(AttentionOwn, AttentionShared).where(Configuration.Specific).inPresets(), no,
		"the attention's MLP, for delta_mode specific: of its own, or that of the score; own unless relations come from a graph",
		func(c *Configuration) any { return &c.Attention }},
	{"temperature", Model, 1., above(0).where(Configuration.Specific).inPresets(), no, "of the attention's softmax",
		func(c *Configuration) any { return &c.AttentionTemperature }},
	{"node_ratio", Model, .1,
		values{text: "more than 0, at most 1", number: func(x float64) bool { return x > 0 && x <= 1 }}.where(Configuration.Prioritized).inPresets(), no,
		"A*Net: share of the entities that may send in a layer", func(c *Configuration) any { return &c.NodeRatio }},
	{"degree_ratio", Model, 1., above(0).where(Configuration.Prioritized).inPresets(), no, "A*Net: scales how many edges they send along",
		func(c *Configuration) any { return &c.DegreeRatio }},
	{"evaluation_node_ratio", Model, 0., between(0, 1).inPresets(), no, "A*Net: node_ratio when nothing is trained; 0 keeps it",
		func(c *Configuration) any { return &c.EvaluationNodeRatio }},
	{"evaluation_degree_ratio", Model, 0., atLeast(0).inPresets(), no, "A*Net: degree_ratio when nothing is trained; 0 keeps it",
		func(c *Configuration) any { return &c.EvaluationDegreeRatio }},
	{"aggregate", Model, AggregatePNA, oneOf(AggregatePNA, AggregateSum, AggregateMean, AggregateMax), no, "how messages are reduced",
		func(c *Configuration) any { return &c.Aggregate }},
	{"message", Model, MessageDistMult, oneOf(MessageDistMult, MessageTransE, MessageRotatE), no, "how a state and a relation make a message",
		func(c *Configuration) any { return &c.Message }},
	{"dependent", Model, true, values{}.where(Configuration.dependentGiven).inPresets(), no, "relation embeddings depend on the query",
		func(c *Configuration) any { return &c.Dependent }},
	{"bias", Model, true, values{}.inPresets(), no, "bias in the node update, and a normalization that is affine",
		func(c *Configuration) any { return &c.Bias }},
	{"degree_messages", Model, false, values{}.inPresets(), no, "a learned message stands in for each that the window leaves out",
		func(c *Configuration) any { return &c.DegreeMessages }},
	{"reach", Model, 0, between(0, 1<<30), no,
		"most entities that a query propagates through, those of the largest personalized PageRank from its source; 0 is all",
		func(c *Configuration) any { return &c.Reach }},
	{"epochs", Training, 20, atLeast(1), yes, "passes over the training facts", func(c *Configuration) any { return &c.Epochs }},
	{"queries_per_epoch", Training, 0, between(0, 1<<30), no, "most training facts that an epoch draws, each fact once before any again; 0 is all",
		func(c *Configuration) any { return &c.QueriesPerEpoch }},
	{"batch_size", Training, 16, atLeast(1), no, "queries per step, each answer of one counted", func(c *Configuration) any { return &c.BatchSize }},
	{"answers_per_query", Training, 0, between(0, MaxAnswers), no,
		"most answers of a training query, which is propagated once for all of them; 0 or 1 takes one",
		func(c *Configuration) any { return &c.AnswersPerQuery }},
	{"removed_share", Training, 0.,
		values{text: "more than 0, at most 1", number: func(x float64) bool { return x > 0 && x <= 1 }}.where(Configuration.SeveralAnswers).inPresets(), no,
		"most of the answers to a source and relation that a training query has, of answers_per_query; 0 takes .5",
		func(c *Configuration) any { return &c.RemovedShare }},
	{"batching", Training, BatchingRandom, oneOf(BatchingRandom, BatchingGrouped, BatchingRelation).inPresets(), no,
		"batches over all queries, whole groups that share a source, or groups that share a relation, which is faster where relations come from a graph",
		func(c *Configuration) any { return &c.Batching }},
	{"share_states", Training, false, values{}, no, "compute states that are equal on paper once: faster, and the same model but for rounding",
		func(c *Configuration) any { return &c.ShareStates }},
	{"learning_rate", Training, 5e-3, above(0), no, "Adam's, in the first epoch", func(c *Configuration) any { return &c.LearningRate }},
	{"learning_rate_decay", Training, .9, above(0), no, "multiplies the learning rate after each epoch",
		func(c *Configuration) any { return &c.LearningRateDecay }},
	{"least_learning_rate", Training, 0., atLeast(0).inPresets(), yes,
		"learning rate below which it does not decay; train --resume --minutes keeps that of the last planned epoch",
		func(c *Configuration) any { return &c.LeastLearningRate }},
	{"weight_decay", Training, 0., atLeast(0), no, "added to the gradient, times the weight", func(c *Configuration) any { return &c.WeightDecay }},
	{"weight_average", Training, 0., fraction, no, "share of the average over earlier epochs in the weights that are validated and scored with",
		func(c *Configuration) any { return &c.WeightAverage }},
	{"loss", Training, LossBinary, oneOf(LossBinary, LossSoftmax), no,
		"what is learned of an answer and its negatives: whether each is true (binary, the paper's), or which of them is the answer (softmax)",
		func(c *Configuration) any { return &c.Loss }},
	{"dropout", Training, 0., fraction, no, "share of each node update that is dropped while training", func(c *Configuration) any { return &c.Dropout }},
	{"remove", Training, RemoveTriple, oneOf(RemoveTriple, RemoveOneHop, RemoveNone), no, "what leaves the graph of a training query",
		func(c *Configuration) any { return &c.Remove }},
	{"negatives", Training, 128, between(1, 1<<20), no, "negatives per training query", func(c *Configuration) any { return &c.Negatives }},
	{"strict_negatives", Training, true, values{}.inPresets(), no, "never draw a known answer as a negative",
		func(c *Configuration) any { return &c.StrictNegatives }},
	{"reach_negatives", Training, 0., between(0, 1), no,
		"share of the negatives that are drawn among the entities of a query's --reach; above 0, queries whose answer is not among them are left out",
		func(c *Configuration) any { return &c.ReachNegatives }},
	{"adversarial_temperature", Training, .5, atLeast(0).where(Configuration.binary).inPresets(), no, "weights hard negatives more; 0 weights all alike",
		func(c *Configuration) any { return &c.AdversarialTemperature }},
}

var fraction = values{text: "0 or more, less than 1", number: func(x float64) bool { return x >= 0 && x < 1 }}

// values describe the values of a hyperparameter. The zero value accepts everything.
type values struct {
	text    string               // describes numbers
	number  func(x float64) bool // accepts a number
	choices []string
	only    func(Configuration) bool // other configurations do not use the hyperparameter; nil if all do
	preset  bool                     // only a preset sets the hyperparameter: it is no flag
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func atLeast(least float64) values {
	return values{text: decimal(least) + " or more", number: func(x float64) bool { return x >= least }}
}

func above(bound float64) values {
	return values{text: "more than " + decimal(bound), number: func(x float64) bool { return x > bound }}
}

func between(least, most float64) values {
	return values{text: decimal(least) + " to " + decimal(most), number: func(x float64) bool { return x >= least && x <= most }}
}

func oneOf(choices ...string) values { return values{choices: choices} }

func (v values) where(only func(Configuration) bool) values {
	v.only = only
	return v
}

func (v values) inPresets() values {
	v.preset = true
	return v
}

// Default returns the configuration that the presets modify: the paper's architecture, with
// hyperparameters that suit most small graphs.
func Default() Configuration {
	var c Configuration
	for _, f := range hyperparameters {
		f.field(&c).Set(reflect.ValueOf(f.Default))
	}
	return c
}

// Resumed returns c with those hyperparameters of another configuration that a resumed training may change.
func (c Configuration) Resumed(by Configuration) Configuration {
	for _, f := range hyperparameters {
		if f.changes {
			f.field(&c).Set(f.field(&by))
		}
	}
	return c
}

// WithModel returns c with the hyperparameters of the model, rather than of its training, of another configuration.
func (c Configuration) WithModel(model Configuration) Configuration {
	for _, f := range hyperparameters {
		if f.Group == Model {
			f.field(&c).Set(f.field(&model))
		}
	}
	return c
}

// Fields returns all hyperparameters, in the order of a command's help.
func Fields() []Field { return slices.Clone(hyperparameters) }

// FieldNamed returns the hyperparameter with a name.
func FieldNamed(name string) (f Field, known bool) {
	i := slices.IndexFunc(hyperparameters, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return f, false
	}
	return hyperparameters[i], true
}

// Flags returns the names of the hyperparameters of a group that are flags, separated by spaces.
func Flags(group string) string {
	var names []string
	for _, f := range hyperparameters {
		if f.Group == group && f.IsFlag() {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, " ")
}

func (f Field) field(c *Configuration) reflect.Value { return reflect.ValueOf(f.at(c)).Elem() }

// Kind returns reflect.Int, Float64, Bool or String.
func (f Field) Kind() reflect.Kind { return reflect.TypeOf(f.Default).Kind() }

// Of returns the value of the hyperparameter in a configuration.
func (f Field) Of(c Configuration) any { return f.field(&c).Interface() }

// Choices returns all values of a hyperparameter, as texts that Set accepts, or nil for a number.
func (f Field) Choices() []string {
	if f.Kind() == reflect.Bool {
		return []string{"false", "true"}
	}
	return slices.Clone(f.values.choices)
}

// Used reports whether a configuration uses the hyperparameter.
func (f Field) Used(c Configuration) bool { return f.values.only == nil || f.values.only(c) }

// IsFlag reports whether a flag sets the hyperparameter; others are set by presets alone.
func (f Field) IsFlag() bool { return !f.values.preset }

// Usage explains the flag, as package flag wants it: the kind of value in backquotes, then its purpose and
// the range of a number.
func (f Field) Usage() string {
	switch {
	case f.values.choices != nil:
		return "`" + strings.Join(f.values.choices, "|") + "`: " + f.help
	case f.values.text != "":
		return "`" + strings.TrimSuffix(f.Kind().String(), "64") + "`: " + f.help + "; " + f.values.text
	}
	return f.help
}

// wants describes the values that are valid, or returns "" if the configuration's value is.
func (f Field) wants(c Configuration) string {
	v, value, x := f.values, f.field(&c), 0.
	switch f.Kind() {
	case reflect.Int:
		x = float64(value.Int())
	case reflect.Float64:
		x = value.Float()
	}
	switch {
	case x-x != 0: // NaN or infinite
		return "a finite number"
	case !f.Used(c):
		return ""
	case v.choices != nil && !slices.Contains(v.choices, value.String()):
		return "one of " + strings.Join(v.choices, ", ")
	case v.number != nil && !v.number(x):
		return v.text
	}
	return ""
}

// Set sets the hyperparameter of a configuration from its text on a command line. An error describes the
// values that are accepted.
func (f Field) Set(c *Configuration, text string) error {
	var value any = text
	var err error
	switch f.Kind() {
	case reflect.Int:
		value, err = strconv.Atoi(text)
	case reflect.Float64:
		x, failed := strconv.ParseFloat(text, 64)
		if failed == nil && x-x != 0 {
			return errors.New("want a finite number")
		}
		value, err = x, failed
	case reflect.Bool:
		value, err = strconv.ParseBool(text)
	}
	if err != nil {
		return errors.New("want " + f.Wants())
	}
	f.field(c).Set(reflect.ValueOf(value))
	return nil
}

// Wants describes the values that Set accepts.
func (f Field) Wants() string {
	return map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number", reflect.Bool: "true or false",
		reflect.String: "a text"}[f.Kind()]
}
