package configuration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// The values of the fields that are choices. They are written to disk.
const (
	RelationsTable  = "table"  // embeddings and tables of relations are parameters
	RelationsLinear = "linear" // the tables are a linear map of the embedding of the query's relation
	RelationsGraph  = "graph"  // both come from a propagation between relations; only read from trained weights

	PolicyWindow          = "window"       // an entity is updated from its distance on, for Delta more layers (TAGNet)
	PolicyFull            = "full"         // every entity is updated in every layer (NBFNet)
	PolicyAStar           = "astar"        // the entities of highest priority send along their best edges (A*Net)
	PolicyWindowWithAStar = "window+astar" // a message is sent only if both policies send it

	DeltaFixed    = "fixed"    // the final state is that of the last layer
	DeltaSpecific = "specific" // the final state is an attention over the states of the window

	AttentionOwn    = "own"    // the attention has an MLP of its own
	AttentionShared = "shared" // the attention uses the score function

	AggregatePNA  = "pna"
	AggregateSum  = "sum"
	AggregateMean = "mean"
	AggregateMax  = "max"

	MessageDistMult = "distmult"
	MessageTransE   = "transe"
	MessageRotatE   = "rotate"

	RemoveTriple = "triple"  // the fact's edge and its inverse
	RemoveOneHop = "one_hop" // every edge between the fact's ends
	RemoveNone   = "none"

	BatchingRandom  = "random"  // each batch is drawn from all queries
	BatchingGrouped = "grouped" // whole groups of queries that share a source
)

// Configuration holds all hyperparameters. Two trainings with equal configurations, data and seeds end
// in equal checkpoints.
//
// The zero value of a field is not always valid: start from Default or a preset.
type Configuration struct {
	// Relations is where relation embeddings come from: graph, or empty for the table or linear that Dependent says (Source). Weights
	// decide it: it is no hyperparameter.
	Relations string `json:"relations,omitzero"`
	// RelationLayers is the number of propagation layers between relations, for graph.
	RelationLayers int `json:"relation_layers,omitzero"`
	// Architecture is the key that earlier files have instead of Relations; its value ultra stands for graph. Upgraded leaves it empty.
	Architecture string `json:"architecture,omitzero"`
	// Layers is the number of propagation layers T, and the largest distance of an answer that is
	// found.
	Layers int `json:"layers"`
	// Dim is the number of dimensions d of every state.
	Dim int `json:"dim"`
	// Policy decides which messages a layer sends.
	Policy string `json:"policy"`
	// Delta is the number of layers for which an entity is still updated after it is first reached. Not
	// used by full and astar.
	Delta int `json:"delta"`
	// DeltaMode is fixed or specific.
	DeltaMode string `json:"delta_mode"`
	// Attention is own or shared; empty unless DeltaMode is specific.
	Attention string `json:"attention"`
	// AttentionTemperature divides the attention's logits before the softmax.
	AttentionTemperature float64 `json:"temperature"`
	// NodeRatio is the share of the entities that send in a layer (A*Net).
	NodeRatio float64 `json:"node_ratio"`
	// DegreeRatio scales the number of edges they send along (A*Net).
	DegreeRatio float64 `json:"degree_ratio"`
	// EvaluationNodeRatio replaces NodeRatio except while training; 0 keeps it.
	EvaluationNodeRatio float64 `json:"evaluation_node_ratio"`
	// EvaluationDegreeRatio replaces DegreeRatio except while training; 0 keeps it.
	EvaluationDegreeRatio float64 `json:"evaluation_degree_ratio"`
	// Aggregate is how an entity reduces its messages: pna, sum, mean or max.
	Aggregate string `json:"aggregate"`
	// Message is how a state and a relation make a message: distmult, transe or rotate.
	Message string `json:"message"`
	// Dependent makes the relation embeddings of a layer a linear map of the query's embedding.
	Dependent bool `json:"dependent"`
	// Bias gives the node update a bias, and its layer norm a scale and a shift.
	Bias bool `json:"bias"`
	// DegreeMessages replaces each message that the window does not admit by a learned vector.
	DegreeMessages bool `json:"degree_messages"`
	// Remove is what leaves the graph of a training query: triple, one_hop or none.
	Remove string `json:"remove"`

	// Dropout is the probability that a dimension of a node update is dropped while training.
	Dropout float64 `json:"dropout"`
	// Negatives is the number K of negatives for each training query.
	Negatives int `json:"negatives"`
	// StrictNegatives never draws a known answer as a negative.
	StrictNegatives bool `json:"strict_negatives"`
	// AdversarialTemperature weights negatives of high score more, the lower it is; 0 weights all
	// equally.
	AdversarialTemperature float64 `json:"adversarial_temperature"`
	// LearningRate is that of Adam in the first epoch.
	LearningRate float64 `json:"learning_rate"`
	// LearningRateDecay multiplies the learning rate after each epoch.
	LearningRateDecay float64 `json:"learning_rate_decay"`
	// WeightDecay is added to the gradient, times the weight, as PyTorch's Adam does; with relations from a graph it is that of AdamW.
	WeightDecay float64 `json:"weight_decay"`
	// BatchSize is the number of queries for each step of the optimizer.
	BatchSize int `json:"batch_size"`
	// Epochs is the number of passes over the training facts.
	Epochs int `json:"epochs"`
	// Batching is random (the paper's) or grouped.
	Batching string `json:"batching"`
	// ShareStates computes states that are equal on paper once while training, and adds up their
	// gradients: less work for the same model, but for rounding. Within a window these are states of a query's
	// entities, with policy full and relations that do not depend on the query those of a batch's queries. Only
	// without dropout, which would make them differ. A device computes all of them.
	ShareStates bool `json:"share_states,omitzero"`
	// WeightAverage is the share of the average over earlier epochs in the weights that an epoch leaves for
	// validation and scoring: average = WeightAverage average + (1 - WeightAverage) weights, from the first
	// epoch's weights on. The training itself is the same with every value; 0 leaves the weights as they are.
	WeightAverage float64 `json:"weight_average,omitzero"`
}

// Default returns the configuration that the presets modify: the paper's architecture, with
// hyperparameters that suit most small graphs.
func Default() Configuration {
	return Configuration{
		Layers: 6, Dim: 32,
		Policy: PolicyWindow, Delta: 2, DeltaMode: DeltaFixed, AttentionTemperature: 1,
		NodeRatio: 0.1, DegreeRatio: 1,
		Aggregate: AggregatePNA, Message: MessageDistMult,
		Dependent: true, Bias: true, Remove: RemoveTriple,
		Negatives: 128, StrictNegatives: true, AdversarialTemperature: 0.5,
		LearningRate: 5e-3, LearningRateDecay: 0.9, BatchSize: 16, Epochs: 20,
		Batching: BatchingRandom,
	}
}

// Upgraded returns what a configuration means that was written before Relations, or names a choice that Dependent makes.
func (c Configuration) Upgraded() Configuration {
	switch {
	case c.Architecture == "ultra":
		c.Architecture, c.Relations, c.RelationLayers = "", RelationsGraph, c.Layers
	case c.Relations == RelationsTable || c.Relations == RelationsLinear:
		c.Relations, c.Dependent = "", c.Relations == RelationsLinear
	}
	return c
}

// Source returns where relation embeddings come from: table, linear or graph.
func (c Configuration) Source() string {
	switch {
	case c.Relations != "":
		return c.Relations
	case c.Dependent:
		return RelationsLinear
	}
	return RelationsTable
}

// Transfers reports whether no parameter belongs to a relation, so that the model answers queries on any graph. Then it needs the
// graph of the relations.
func (c Configuration) Transfers() bool { return c.Source() == RelationsGraph }

// Windowed reports whether distances decide which messages are sent.
func (c Configuration) Windowed() bool {
	return c.Policy == PolicyWindow || c.Policy == PolicyWindowWithAStar
}

// Prioritized reports whether priorities decide which messages are sent (A*Net).
func (c Configuration) Prioritized() bool {
	return c.Policy == PolicyAStar || c.Policy == PolicyWindowWithAStar
}

// HasBackground reports whether states that no message from the source has reached are the same for all queries: those of
// policy full, unless relation embeddings depend on the query. In training, dropout makes them differ all the same.
func (c Configuration) HasBackground() bool {
	return c.Policy == PolicyFull && c.Source() == RelationsTable
}

// HasGround reports whether queries are scored by differences to the states without a source, which queries of either direction of
// a relation share: policy full with sums of messages, and relations from a graph.
func (c Configuration) HasGround() bool {
	return c.Policy == PolicyFull && c.Source() == RelationsGraph && c.Aggregate == AggregateSum && c.Message == MessageDistMult
}

// Specific reports whether the final state is an attention over the states of the window.
func (c Configuration) Specific() bool { return c.DeltaMode == DeltaSpecific }

// States returns the most states that a final state is made of: one, or, where delta is specific, one
// for each age that the number of layers allows.
func (c Configuration) States() int {
	if c.Specific() {
		return min(c.Delta, c.Layers) + 1
	}
	return 1
}

// Ratios returns A*Net's node and degree ratio for training or evaluation.
func (c Configuration) Ratios(training bool) (node, degree float64) {
	node, degree = c.NodeRatio, c.DegreeRatio
	if !training && c.EvaluationNodeRatio > 0 {
		node = c.EvaluationNodeRatio
	}
	if !training && c.EvaluationDegreeRatio > 0 {
		degree = c.EvaluationDegreeRatio
	}
	return node, degree
}

// UpdateWidth returns the number of entries of a node's update vector in the stored weight: 12 d for
// PNA (four aggregators under three scalers), else d.
func (c Configuration) UpdateWidth() int {
	if c.Aggregate == AggregatePNA {
		return 12 * c.Dim
	}
	return c.Dim
}

// ranges describes the numbers that Validate accepts for a field.
var ranges = map[string]string{
	"layers": fmt.Sprintf("1 to %d", MaxLayers), "relation_layers": fmt.Sprintf("1 to %d", MaxLayers), "dim": "1 to 4096", "delta": "0 or more", "temperature": "more than 0",
	"node_ratio": "more than 0, at most 1", "degree_ratio": "more than 0",
	"evaluation_node_ratio": "0 to 1", "evaluation_degree_ratio": "0 or more",
	"dropout": "0 or more, less than 1", "negatives": "1 to 1048576", "adversarial_temperature": "0 or more",
	"learning_rate": "more than 0", "learning_rate_decay": "more than 0", "weight_decay": "0 or more", "weight_average": "0 or more, less than 1",
	"batch_size": "1 or more", "epochs": "1 or more",
}

// Range describes the numbers that a field may have, by its name in JSON, or returns "" for a field that is no number.
func Range(field string) string { return ranges[field] }

// Violation is a value that a field may not have.
type Violation struct {
	// Field is the field's name in JSON.
	Field string
	// Value is the value, as errors show it, and Want describes those that are valid.
	Value, Want string
}

// Error returns "FIELD is VALUE: want WANT".
func (v Violation) Error() string { return fmt.Sprintf("%s is %s: want %s", v.Field, v.Value, v.Want) }

// Validate returns an error that joins a Violation for each field that is not valid.
func (c Configuration) Validate() error {
	var violations []error
	for _, v := range c.Violations() {
		violations = append(violations, v)
	}
	return errors.Join(violations...)
}

// Violations returns the fields that are not valid, in a fixed order.
func (c Configuration) Violations() []Violation {
	var violations []Violation
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			violations = append(violations, Violation{field, fmt.Sprint(value), want})
		}
	}
	within := func(ok bool, field string, value any) { check(ok, field, value, ranges[field]) }
	oneOf := func(field, value string, choices ...string) {
		for _, choice := range choices {
			if value == choice {
				return
			}
		}
		check(false, field, fmt.Sprintf("%q", value), "one of "+strings.Join(choices, ", "))
	}
	for _, r := range c.reals() {
		check(!math.IsNaN(r.value) && !math.IsInf(r.value, 0), r.field, r.value, "a finite number")
	}
	check(c.Architecture == "", "architecture", fmt.Sprintf("%q", c.Architecture), "nothing")
	check(c.Relations == "" || c.Relations == RelationsGraph, "relations", fmt.Sprintf("%q", c.Relations), "nothing, or "+RelationsGraph)
	within(c.Layers >= 1 && c.Layers <= MaxLayers, "layers", c.Layers)
	if c.Transfers() {
		within(c.RelationLayers >= 1 && c.RelationLayers <= MaxLayers, "relation_layers", c.RelationLayers)
		check(c.Bias, "bias", c.Bias, "true, with relations from a graph")
		check(!c.Prioritized(), "policy", c.Policy, "window or full, with relations from a graph")
		check(!c.DegreeMessages, "degree_messages", c.DegreeMessages, "false, with relations from a graph")
		check(c.Attention != AttentionOwn, "attention", c.Attention, "shared, with relations from a graph")
	}
	within(c.Dim >= 1 && c.Dim <= 4096, "dim", c.Dim)
	within(c.Delta >= 0, "delta", c.Delta)
	oneOf("policy", c.Policy, PolicyWindow, PolicyFull, PolicyAStar, PolicyWindowWithAStar)
	oneOf("delta_mode", c.DeltaMode, DeltaFixed, DeltaSpecific)
	oneOf("aggregate", c.Aggregate, AggregatePNA, AggregateSum, AggregateMean, AggregateMax)
	oneOf("message", c.Message, MessageDistMult, MessageTransE, MessageRotatE)
	oneOf("remove", c.Remove, RemoveTriple, RemoveOneHop, RemoveNone)
	oneOf("batching", c.Batching, BatchingRandom, BatchingGrouped)
	if c.Specific() {
		oneOf("attention", c.Attention, AttentionOwn, AttentionShared)
		within(c.AttentionTemperature > 0, "temperature", c.AttentionTemperature)
		check(c.Policy == PolicyWindow, "policy", c.Policy, "window, for delta_mode specific")
	}
	if c.Prioritized() {
		within(c.NodeRatio > 0 && c.NodeRatio <= 1, "node_ratio", c.NodeRatio)
		within(c.DegreeRatio > 0, "degree_ratio", c.DegreeRatio)
		check(!c.DegreeMessages, "degree_messages", c.DegreeMessages, "false, for policy "+c.Policy)
	}
	within(c.EvaluationNodeRatio >= 0 && c.EvaluationNodeRatio <= 1, "evaluation_node_ratio", c.EvaluationNodeRatio)
	within(c.EvaluationDegreeRatio >= 0, "evaluation_degree_ratio", c.EvaluationDegreeRatio)
	check(!c.ShareStates || (c.Policy == PolicyWindow || c.HasBackground()) && c.Dropout == 0, "share_states", c.ShareStates, "false, except with dropout 0 for policy window, or policy full with dependent false")
	check(c.Message != MessageRotatE || c.Dim%2 == 0, "dim", c.Dim, "an even number, for message rotate")
	within(c.Dropout >= 0 && c.Dropout < 1, "dropout", c.Dropout)
	within(c.Negatives >= 1 && c.Negatives <= 1<<20, "negatives", c.Negatives)
	within(c.AdversarialTemperature >= 0, "adversarial_temperature", c.AdversarialTemperature)
	within(c.LearningRate > 0, "learning_rate", c.LearningRate)
	within(c.LearningRateDecay > 0, "learning_rate_decay", c.LearningRateDecay)
	within(c.WeightDecay >= 0, "weight_decay", c.WeightDecay)
	within(c.BatchSize >= 1, "batch_size", c.BatchSize)
	within(c.WeightAverage >= 0 && c.WeightAverage < 1, "weight_average", c.WeightAverage)
	within(c.Epochs >= 1, "epochs", c.Epochs)
	return violations
}

// real is a field that is not a whole number.
type real struct {
	field string
	value float64
}

func (c Configuration) reals() []real {
	return []real{
		{"temperature", c.AttentionTemperature}, {"node_ratio", c.NodeRatio}, {"degree_ratio", c.DegreeRatio},
		{"evaluation_node_ratio", c.EvaluationNodeRatio}, {"evaluation_degree_ratio", c.EvaluationDegreeRatio},
		{"dropout", c.Dropout}, {"adversarial_temperature", c.AdversarialTemperature}, {"learning_rate", c.LearningRate},
		{"learning_rate_decay", c.LearningRateDecay}, {"weight_decay", c.WeightDecay}, {"weight_average", c.WeightAverage},
	}
}

// MaxLayers bounds Layers: distances are stored in 4 bits, of which 15 means unreached.
const MaxLayers = 14

// String returns the configuration as indented JSON, which Parse reads.
func (c Configuration) String() string {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err.Error() // only NaN or infinity in a field can cause it
	}
	return string(text)
}

// Parse sets the fields of c from JSON, and keeps those that are not in it. An unknown field is an error.
func (c *Configuration) Parse(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return fmt.Errorf("parsing configuration: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("parsing configuration: unexpected text after its end")
	}
	*c = c.Upgraded()
	return nil
}
