package configuration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"tagnet/formats/hop"
)

// The values of the fields that are choices. They are written to disk.
const (
	PolicyWindow          = "window"       // an entity is updated from its distance on, for Delta more layers (TAGNet)
	PolicyFull            = "full"         // every entity is updated in every layer (NBFNet)
	PolicyAStar           = "astar"        // the entities of highest priority send along their best edges (A*Net)
	PolicyWindowWithAStar = "window+astar" // a message is sent only if both policies send it

	DeltaFixed    = "fixed"    // the final state is the state after the last layer
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

	LossBinary  = "binary"  // is this fact true? of the answer and of each negative by itself (the paper's)
	LossSoftmax = "softmax" // which of them is the answer? one softmax over the answer and its negatives

	BatchingRandom   = "random"   // each batch is drawn from all queries
	BatchingGrouped  = "grouped"  // whole groups of queries that share a source
	BatchingRelation = "relation" // groups of queries that share a base relation, about four in a batch
)

// Configuration holds all hyperparameters. Two trainings with equal configurations, data and seeds end
// in equal checkpoints.
//
// The zero value of a field is not always valid: start from Default or a preset.
type Configuration struct {
	// Relations is the source of relation embeddings: graph, or empty if Dependent chooses table or linear (Source).
	// Normalized leaves it empty for these two.
	Relations string `json:"relations,omitzero"`
	// RelationLayers is the number of propagation layers between relations, for graph; else 0.
	RelationLayers int `json:"relation_layers,omitzero"`
	// Layers is the number of propagation layers T, and the largest distance of an answer that is found.
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
	// Reach is the most entities that a query propagates through: the ones of the largest personalized PageRank from
	// its source, within Layers hops (package parts). The others count as not reached. 0 is all.
	Reach int `json:"reach,omitzero"`
	// Remove names the edges that leave the graph of a training query: triple, one_hop or none.
	Remove string `json:"remove"`

	// Loss is binary, of each score by itself, or softmax, of the answer among its negatives.
	Loss string `json:"loss"`
	// Dropout is the probability that a dimension of a node update is dropped while training.
	Dropout float64 `json:"dropout"`
	// Negatives is the number K of negatives for each training query.
	Negatives int `json:"negatives"`
	// StrictNegatives never draws a known answer as a negative.
	StrictNegatives bool `json:"strict_negatives"`
	// ReachNegatives is the share of the negatives that are drawn among the entities of a query's Reach. Unless it is
	// 0, training leaves out queries whose answer is out of reach.
	ReachNegatives float64 `json:"reach_negatives,omitzero"`
	// AdversarialTemperature weights negatives of high score more, the lower it is; 0 weights all
	// equally. The softmax loss does not use it.
	AdversarialTemperature float64 `json:"adversarial_temperature"`
	// LearningRate is Adam's learning rate in the first epoch.
	LearningRate float64 `json:"learning_rate"`
	// LearningRateDecay multiplies the learning rate after each epoch.
	LearningRateDecay float64 `json:"learning_rate_decay"`
	// LeastLearningRate is the learning rate below which it does not decay.
	LeastLearningRate float64 `json:"least_learning_rate,omitzero"`
	// WeightDecay is added to the gradient, times the weight, as in PyTorch's Adam; with relations from a
	// graph it is AdamW's.
	WeightDecay float64 `json:"weight_decay"`
	// BatchSize is the number of queries for each step of the optimizer; one with several answers counts once for each.
	BatchSize int `json:"batch_size"`
	// AnswersPerQuery is the most answers of a (source, relation) that a training query has: they leave its graph
	// together, and it is propagated once for all of them. 0, as Normalized leaves 1, is one.
	AnswersPerQuery int `json:"answers_per_query,omitzero"`
	// RemovedShare is the most of all answers of a (source, relation) that a training query has, as a share, unless
	// that is less than one. It is used with several AnswersPerQuery only; Normalized sets it to 0 or, if it is
	// omitted, to a half.
	RemovedShare float64 `json:"removed_share,omitzero"`
	// QueriesPerEpoch is the most training facts that an epoch draws, each in one query. Consecutive epochs draw
	// different ones until all have been drawn. 0 is all.
	QueriesPerEpoch int `json:"queries_per_epoch,omitzero"`
	// Epochs is the number of passes over the training facts, or over QueriesPerEpoch of them.
	Epochs int `json:"epochs"`
	// Batching is random (the paper's), grouped or relation.
	Batching string `json:"batching"`
	// ShareStates computes states that are equal on paper once while training, and adds up their
	// gradients: less work for the same model, but for rounding. Only without dropout, which would make them
	// differ. Policy full and devices compute all of them.
	ShareStates bool `json:"share_states,omitzero"`
	// WeightAverage is the share of the average over earlier epochs in the weights that an epoch leaves for
	// validation and scoring: average = WeightAverage average + (1 - WeightAverage) weights, from the first
	// epoch's weights on. The training itself is the same with every value; 0 leaves the weights as they are.
	WeightAverage float64 `json:"weight_average,omitzero"`
}

// Normalized returns the same configuration for equal models: Dependent chooses between table and linear, not
// Relations; an omitted RelationLayers becomes Layers; an omitted Attention becomes own, or shared with relations from
// a graph; one answer for each query is 0, and an omitted RemovedShare a half.
func (c Configuration) Normalized() Configuration {
	if c.Relations == RelationsTable || c.Relations == RelationsLinear {
		c.Relations, c.Dependent = "", c.Relations == RelationsLinear
	}
	switch {
	case c.Relations == "":
		c.RelationLayers = 0
	case c.Relations == RelationsGraph && c.RelationLayers == 0:
		c.RelationLayers = c.Layers
	}
	if c.Specific() && c.Attention == "" {
		c.Attention = AttentionOwn
		if c.Relations == RelationsGraph {
			c.Attention = AttentionShared
		}
	}
	switch {
	case c.SeveralAnswers() && c.RemovedShare == 0:
		c.RemovedShare = .5
	case !c.SeveralAnswers():
		c.AnswersPerQuery, c.RemovedShare = min(c.AnswersPerQuery, 0), 0
	}
	return c
}

// binary reports whether the loss is of each score by itself.
func (c Configuration) binary() bool { return c.Loss != LossSoftmax }

// EqualScores returns the loss of an answer and its negatives that all have the score 0. Where a training collapses,
// its loss tends to it.
func (c Configuration) EqualScores() float64 {
	if c.binary() {
		return math.Ln2
	}
	return math.Log1p(float64(c.Negatives))
}

// SeveralAnswers reports whether a training query may have several answers.
func (c Configuration) SeveralAnswers() bool { return c.AnswersPerQuery > 1 }

// QueriesOf returns the number of training queries among which so many answers of a (source, relation) are divided.
func (c Configuration) QueriesOf(answers int) int {
	most := max(1, min(c.AnswersPerQuery, int(c.RemovedShare*float64(answers))))
	return (answers + most - 1) / most
}

// Windowed reports whether distances decide which messages are sent.
func (c Configuration) Windowed() bool {
	return c.Policy == PolicyWindow || c.Policy == PolicyWindowWithAStar
}

// Prioritized reports whether priorities decide which messages are sent (A*Net).
func (c Configuration) Prioritized() bool {
	return c.Policy == PolicyAStar || c.Policy == PolicyWindowWithAStar
}

// Within returns c as it computes on a graph of a number of entities: without a reach that covers them all.
func (c Configuration) Within(entities int) Configuration {
	if c.Reach >= entities {
		c.Reach, c.ReachNegatives = 0, 0
	}
	return c
}

// Covers returns the share of a graph's entities that a query's propagation covers at most.
func (c Configuration) Covers(entities int) float64 {
	if c = c.Within(entities); c.Reach == 0 {
		return 1
	}
	return float64(c.Reach) / float64(entities)
}

// Work returns about how many multiply-adds a query takes without truncation: a message along each edge and a score of
// each entity in every layer.
func (c Configuration) Work(entities int, edges int64) float64 {
	return c.Covers(entities) * float64(c.Layers) * float64(c.Dim) * float64(edges+int64(entities))
}

// Specific reports whether the final state is an attention over the states of the window.
func (c Configuration) Specific() bool { return c.DeltaMode == DeltaSpecific }

// States returns the most states that a final state is made of: one or, with a specific delta, one
// for each age that the number of layers allows.
func (c Configuration) States() int {
	if c.Specific() {
		return c.Ages()
	}
	return 1
}

// Ages returns the number of states that an entity passes through within its window, the first of them
// when it is reached.
func (c Configuration) Ages() int { return min(c.Delta, c.Layers) + 1 }

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

// Violation is a value that a field may not have.
type Violation struct {
	// Field is the field's name in JSON.
	Field string
	// Value is the value, as errors show it, and Want describes the valid ones.
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

// Violations returns the fields that are not valid, in a fixed order: each hyperparameter by itself, then combinations.
func (c Configuration) Violations() []Violation {
	var violations []Violation
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			violations = append(violations, Violation{field, fmt.Sprint(value), want})
		}
	}
	for _, f := range hyperparameters {
		if want := f.wants(c); want != "" {
			check(false, f.Name, shown(f.Of(c)), want)
		}
	}
	if c.Transfers() {
		check(c.RelationLayers >= 1, "relation_layers", c.RelationLayers, between(1, MaxLayers).text)
		check(c.Bias, "bias", c.Bias, "true, with relations from a graph")
		check(!c.Prioritized(), "policy", c.Policy, "window or full, with relations from a graph")
		check(!c.DegreeMessages, "degree_messages", c.DegreeMessages, "false, with relations from a graph")
		check(c.Attention != AttentionOwn, "attention", c.Attention, "shared, with relations from a graph")
	}
	check(c.Reach == 0 || !c.Prioritized(), "reach", c.Reach, "0, for policy "+c.Policy)
	check(!c.Specific() || c.Policy == PolicyWindow, "policy", c.Policy, "window, for delta_mode specific")
	check(!c.Prioritized() || !c.DegreeMessages, "degree_messages", c.DegreeMessages, "false, for policy "+c.Policy)
	check(!c.ShareStates || !c.Prioritized() && c.Dropout == 0, "share_states", c.ShareStates, "false, except with dropout 0 for policy window or full")
	check(c.Message != MessageRotatE || c.Dim%2 == 0, "dim", c.Dim, "an even number, for message rotate")
	return violations
}

// shown returns a value as errors show it.
func shown(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}

// MaxLayers bounds Layers: tables store distances in 4 bits.
const MaxLayers = hop.Most

// MaxAnswers bounds AnswersPerQuery, so that the gradients of all candidates of a query take a few megabytes.
const MaxAnswers = 256

// String returns the configuration as indented JSON, which Parse reads.
func (c Configuration) String() string {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err.Error() // only NaN or infinity in a field can cause it
	}
	return string(text)
}

// Parse sets the fields of c from JSON, and keeps fields that are not in it. An unknown field is an error.
func (c *Configuration) Parse(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return fmt.Errorf("parsing configuration: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("parsing configuration: unexpected text after its end")
	}
	*c = c.Normalized()
	return nil
}
