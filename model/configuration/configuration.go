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

// The choices a configuration names. Their spelling is part of what is written to disk.
const (
	PolicyWindow          = "window"       // an entity listens from its distance on, for Delta more layers (TAGNet)
	PolicyFull            = "full"         // every entity listens in every layer (NBFNet)
	PolicyAStar           = "astar"        // the best entities send along their best edges (A*Net)
	PolicyWindowWithAStar = "window+astar" // a message is sent only if both would send it

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

	RemoveTriple = "triple"  // the fact's edge and its reciprocal
	RemoveOneHop = "one_hop" // every edge between the fact's ends
	RemoveNone   = "none"

	BatchingRandom  = "random"  // each batch drawn over all queries
	BatchingGrouped = "grouped" // whole groups of queries that share a source
)

// Configuration is every choice that decides what is learned. Two runs with equal
// configurations, equal data and equal seeds end in equal checkpoints.
//
// The zero value of a field is not always legal: start from Default or a preset.
type Configuration struct {
	// Layers is the number of propagation layers T, and the most hops an answer can be away.
	Layers int `json:"layers"`
	// Dim is the number of dimensions d of every state.
	Dim int `json:"dim"`
	// Policy decides who listens to whom in a layer.
	Policy string `json:"policy"`
	// Delta is how many layers after it is first reached an entity still listens. Not used by full and astar.
	Delta int `json:"delta"`
	// DeltaMode is fixed or specific.
	DeltaMode string `json:"delta_mode"`
	// Attention is own or shared; empty unless DeltaMode is specific.
	Attention string `json:"attention"`
	// AttentionTemperature divides the attention's logits before the softmax.
	AttentionTemperature float64 `json:"temperature"`
	// NodeRatio is the share of the entities that may send in a layer (A*Net).
	NodeRatio float64 `json:"node_ratio"`
	// DegreeRatio scales the number of edges along which they send (A*Net).
	DegreeRatio float64 `json:"degree_ratio"`
	// EvaluationNodeRatio replaces NodeRatio when nothing is trained; 0 keeps it.
	EvaluationNodeRatio float64 `json:"evaluation_node_ratio"`
	// EvaluationDegreeRatio replaces DegreeRatio when nothing is trained; 0 keeps it.
	EvaluationDegreeRatio float64 `json:"evaluation_degree_ratio"`
	// Aggregate is how an entity reduces its messages: pna, sum, mean or max.
	Aggregate string `json:"aggregate"`
	// Message is how a state and a relation make a message: distmult, transe or rotate.
	Message string `json:"message"`
	// Dependent makes the relation embeddings of a layer a linear map of the query's embedding.
	Dependent bool `json:"dependent"`
	// Bias gives the node update a bias, and its layer norm a scale and a shift.
	Bias bool `json:"bias"`
	// DegreeMessages stands a learned vector in for each message that the window leaves out.
	DegreeMessages bool `json:"degree_messages"`
	// Remove is what leaves the graph of a training query: triple, one_hop or none.
	Remove string `json:"remove"`

	// Dropout is the probability that a dimension of a node update is dropped while training.
	Dropout float64 `json:"dropout"`
	// Negatives is the number K of corrupted answers per training query.
	Negatives int `json:"negatives"`
	// StrictNegatives never draws a known answer as a negative.
	StrictNegatives bool `json:"strict_negatives"`
	// AdversarialTemperature weights hard negatives more; 0 weights all alike.
	AdversarialTemperature float64 `json:"adversarial_temperature"`
	// LearningRate is Adam's, in the first epoch.
	LearningRate float64 `json:"learning_rate"`
	// LearningRateDecay multiplies the learning rate after each epoch.
	LearningRateDecay float64 `json:"learning_rate_decay"`
	// WeightDecay is added to the gradient, times the weight, as PyTorch's Adam does.
	WeightDecay float64 `json:"weight_decay"`
	// BatchSize is the number of queries per step of the solver.
	BatchSize int `json:"batch_size"`
	// Epochs is how often every training fact is asked.
	Epochs int `json:"epochs"`
	// Batching is random (the paper's) or grouped.
	Batching string `json:"batching"`
}

// Default is the configuration that the presets change: the paper's architecture with
// hyperparameters that learn something on most small graphs.
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

// Windowed tells whether distances limit who listens.
func (c Configuration) Windowed() bool {
	return c.Policy == PolicyWindow || c.Policy == PolicyWindowWithAStar
}

// Prioritized tells whether priorities limit who sends (A*Net).
func (c Configuration) Prioritized() bool {
	return c.Policy == PolicyAStar || c.Policy == PolicyWindowWithAStar
}

// Specific tells whether the final state is an attention over the window's states.
func (c Configuration) Specific() bool { return c.DeltaMode == DeltaSpecific }

// States is the most states that a final state is made of: one, or, where delta is specific, one
// of each age that the layers leave time for.
func (c Configuration) States() int {
	if c.Specific() {
		return min(c.Delta, c.Layers) + 1
	}
	return 1
}

// Ratios returns A*Net's node and degree ratio, while training or not.
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

// UpdateWidth is the number of entries of a node's update vector in the stored weight:
// 12 d for PNA (three scalers of four aggregators), d otherwise.
func (c Configuration) UpdateWidth() int {
	if c.Aggregate == AggregatePNA {
		return 12 * c.Dim
	}
	return c.Dim
}

// Validate returns nil, or an error that names every field that is not legal, with its value.
func (c Configuration) Validate() error {
	var violations []error
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			violations = append(violations, fmt.Errorf("%s is %v: want %s", field, value, want))
		}
	}
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
	check(c.Layers >= 1 && c.Layers <= MaxLayers, "layers", c.Layers, fmt.Sprintf("1 to %d", MaxLayers))
	check(c.Dim >= 1 && c.Dim <= 4096, "dim", c.Dim, "1 to 4096")
	check(c.Delta >= 0, "delta", c.Delta, "0 or more")
	oneOf("policy", c.Policy, PolicyWindow, PolicyFull, PolicyAStar, PolicyWindowWithAStar)
	oneOf("delta_mode", c.DeltaMode, DeltaFixed, DeltaSpecific)
	oneOf("aggregate", c.Aggregate, AggregatePNA, AggregateSum, AggregateMean, AggregateMax)
	oneOf("message", c.Message, MessageDistMult, MessageTransE, MessageRotatE)
	oneOf("remove", c.Remove, RemoveTriple, RemoveOneHop, RemoveNone)
	oneOf("batching", c.Batching, BatchingRandom, BatchingGrouped)
	if c.Specific() {
		oneOf("attention", c.Attention, AttentionOwn, AttentionShared)
		check(c.AttentionTemperature > 0, "temperature", c.AttentionTemperature, "more than 0")
		check(c.Policy == PolicyWindow, "policy", c.Policy, "window, for delta_mode specific")
	}
	if c.Prioritized() {
		check(c.NodeRatio > 0 && c.NodeRatio <= 1, "node_ratio", c.NodeRatio, "more than 0, at most 1")
		check(c.DegreeRatio > 0, "degree_ratio", c.DegreeRatio, "more than 0")
		check(!c.DegreeMessages, "degree_messages", c.DegreeMessages, "false, for policy "+c.Policy)
	}
	check(c.EvaluationNodeRatio >= 0 && c.EvaluationNodeRatio <= 1, "evaluation_node_ratio", c.EvaluationNodeRatio, "0 to 1")
	check(c.EvaluationDegreeRatio >= 0, "evaluation_degree_ratio", c.EvaluationDegreeRatio, "0 or more")
	check(c.Message != MessageRotatE || c.Dim%2 == 0, "dim", c.Dim, "an even number, for message rotate")
	check(c.Dropout >= 0 && c.Dropout < 1, "dropout", c.Dropout, "0 or more, less than 1")
	check(c.Negatives >= 1 && c.Negatives <= 1<<20, "negatives", c.Negatives, "1 to 1048576")
	check(c.AdversarialTemperature >= 0, "adversarial_temperature", c.AdversarialTemperature, "0 or more")
	check(c.LearningRate > 0, "learning_rate", c.LearningRate, "more than 0")
	check(c.LearningRateDecay > 0, "learning_rate_decay", c.LearningRateDecay, "more than 0")
	check(c.WeightDecay >= 0, "weight_decay", c.WeightDecay, "0 or more")
	check(c.BatchSize >= 1, "batch_size", c.BatchSize, "1 or more")
	check(c.Epochs >= 1, "epochs", c.Epochs, "1 or more")
	return errors.Join(violations...)
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
		{"learning_rate_decay", c.LearningRateDecay}, {"weight_decay", c.WeightDecay},
	}
}

// MaxLayers bounds Layers: distances travel in 4 bits, of which 15 says unreached.
const MaxLayers = 14

// String is the configuration as indented JSON; Parse reads it back.
func (c Configuration) String() string {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err.Error() // only NaN or infinity in a field can cause it
	}
	return string(text)
}

// Parse reads a configuration as String writes it, over the values that c holds already.
// A field that is not of a configuration is an error.
func (c *Configuration) Parse(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return fmt.Errorf("parsing configuration: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("parsing configuration: something follows its end")
	}
	return nil
}
