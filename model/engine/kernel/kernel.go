package kernel

import "cmp"

// Kernel is one variant of all the arithmetic. The interfaces it is made of serve one purpose
// each; a consumer asks for those it needs. All variants give the same results within float32
// rounding (Vectors and BitSearch bit for bit), and each gives the same bits for the
// same arguments every time. A Kernel has no state, so any number of goroutines can share it.
//
// Matrices are dense and row-major. No method allocates.
type Kernel interface {
	// Name returns the name that selects the variant: "portable", "avx2" or "avx512".
	Name() string

	Aggregator
	NodeUpdater
	Multiplier
	WeightFolder
	Partitioner
	Vectors
	BitSearch
}

// Aggregator reduces the messages that receivers hear, and propagates gradients through that.
type Aggregator interface {
	// Aggregate reduces the messages of every receiver and writes its features into the row
	// that r.FeatureRows names. features is [.., r.Width()]: for PNA the receiver's
	// previous state, then mean, max, min and standard deviation; for the other reductions
	// the previous state, then the aggregate.
	Aggregate(r *Receivers, features []float32)

	// AggregateBackward adds, for every receiver, the gradient of its features to the gradients in g. features is what
	// Aggregate wrote, gradient the loss's gradient with respect to it; the first entries of a row, for the previous
	// state, are read only where g.Previous is not nil. Where several members of the set attain the maximum (or
	// minimum), the first one receives its gradient, in the order Initial, DegreeMessage, messages.
	AggregateBackward(r *Receivers, features, gradient []float32, g *Gradients)
}

// NodeUpdater finishes the update of entities' states, and propagates gradients through that.
type NodeUpdater interface {
	// Normalize applies layer norm (epsilon 1e-5), scale and shift, ReLU, dropout, and the residual.
	Normalize(u *NodeUpdate)

	// NormalizeBackward computes the gradient with respect to an update's input, given the
	// output's, [rows, Dim] like Output. The gradient of the residual is gradient itself and
	// is left to the caller.
	NormalizeBackward(u *NodeUpdate, gradient []float32, g *NodeUpdateGradients)
}

// Product is the shape of a product of two matrices, of which the first is [Rows, Inner].
type Product struct {
	Rows, Inner, Columns int
	// Stride is the number of entries from one row of the first matrix to the next, or 0 for Inner.
	Stride int
	// Add adds the product to what is there, instead of replacing it.
	Add bool
}

// stride returns the number of entries from one row of the first matrix to the next.
func (p *Product) stride() int { return cmp.Or(p.Stride, p.Inner) }

// Multiplier computes dense layers.
type Multiplier interface {
	// Multiply computes c = a b, or c += a b, for a [rows, inner], b [inner, columns], c [rows, columns].
	Multiply(c, a, b []float32, p Product)

	// MultiplyTransposed computes c = aᵀ b, or c += aᵀ b, for a [rows, inner], b [rows, columns], c [inner, columns].
	MultiplyTransposed(c, a, b []float32, p Product)

	// Score computes the last layer of an MLP, with the ReLU before it: it sets values[i] to
	// bias plus the sum of max(hidden, 0) times output over row i, for hidden [n, m],
	// output [m] and values [n].
	Score(values, hidden, output []float32, bias float32)
}

// Folded is what a fold writes, and the factors of its second and third term.
type Folded struct {
	Out  []float32
	X, Y float32
}

// WeightFolder folds PNA's three degree scalers into the weights: receivers of equal degree
// share one matrix a + x b + y c, where x and y are the degree's amplification and attenuation.
type WeightFolder interface {
	// Fold computes out = a + x b + y c, all of one length.
	Fold(out, a, b, c []float32, x, y float32)

	// FoldTwo is Fold into two outputs: reading the three terms takes most of the time. The
	// outputs may not overlap anything.
	FoldTwo(first, second Folded, a, b, c []float32)

	// Unfold adds the gradient of Fold's result to the gradients of its terms: a += gradient,
	// b += x gradient, c += y gradient.
	Unfold(a, b, c, gradient []float32, x, y float32)
}

// Partitioner sorts the edges of a window by the distance of their senders.
type Partitioner interface {
	// PartitionSenders partitions the senders of p's receivers into parents, siblings and
	// children, appends them to into, and marks entities that were unreached as newly
	// reached. Senders of one kind keep the order that they have in the graph.
	PartitionSenders(p *Partition, into *Senders)
}

// Message selects how a sender's state x and a relation's embedding w make a message.
type Message uint8

const (
	DistMult Message = iota // x * w
	TransE                  // x + w
	RotatE                  // complex product; the first half of the dimensions is the real part
)

// Reduction selects how a receiver reduces its set of messages.
type Reduction uint8

const (
	PNA Reduction = iota // mean, max, min and standard deviation
	Sum
	Mean
	Max
)

// Receivers are n receivers whose messages are reduced in one call. The set of a receiver
// holds Initial (its boundary x0), its copies of DegreeMessage, and a message from each of the
// senders that it hears.
type Receivers struct {
	Dim       int
	Message   Message
	Reduction Reduction

	// Rows are the receivers' rows in the tables below, FeatureRows their rows in the
	// features, [n] each.
	Rows, FeatureRows []int32

	// Senders lists the senders of all receivers. The first Kinds of parents, siblings and
	// children are heard; the others send nothing.
	Senders Senders
	Kinds   int
	// States are the senders' states, [.., Dim]. Sender rows are relative to StateOffset.
	States      []float32
	StateOffset int
	// RelationEmbeddings is [2R, Dim].
	RelationEmbeddings []float32

	// Previous has the receivers' previous states, [rows, Dim], or is nil for zeros.
	Previous []float32
	// Initial is the boundary x0 of every receiver of this call, [Dim], or nil for zeros. Only
	// the source's boundary differs from zero, so the source is a call of its own.
	Initial []float32
	// EmptyMessages adds a zero to the set for max and min (a sum does not change by it): the
	// source's set holds empty messages that are not sent. It has no effect with a nil Initial,
	// which already adds a zero.
	EmptyMessages bool
	// DegreeMessage is [Dim], or nil for none; Copies, [rows], counts how many the set holds.
	DegreeMessage []float32
	Copies        []float32
	// MeanFactor is 1 / (degree + 1), [rows]: the weight of a member in the mean. Sum and Max do not read it.
	MeanFactor []float32
}

// Senders lists the senders of the receivers in rows 0, 1, 2, .. in compressed sparse form. In
// a window a receiver's parents come first, then its siblings, then its children; other
// propagation policies use the first kind for all.
type Senders struct {
	// Offsets is [3 rows + 1]: the senders of kind k of receiver o are entries
	// Offsets[3 o + k] to Offsets[3 o + k + 1] of Rows and Relations.
	Offsets []int32
	// Rows are rows of the senders' states, relative to the receivers' StateOffset and maybe
	// negative; Relations are rows of the relation embeddings.
	Rows, Relations []int32
}

// Range returns the range of the first kinds of a receiver's senders.
func (s *Senders) Range(receiver int32, kinds int) (begin, end int32) {
	return s.Offsets[3*receiver], s.Offsets[3*receiver+int32(kinds)]
}

// Count returns the number n of receivers.
func (r *Receivers) Count() int { return len(r.Rows) }

// Width returns the number of entries of a receiver's features: five times Dim for PNA, else twice.
func (r *Receivers) Width() int {
	if r.Reduction == PNA {
		return 5 * r.Dim
	}
	return 2 * r.Dim
}

// Gradients are the tables that AggregateBackward adds to, shaped as the fields of the same
// names in Receivers; a table that is nil there is nil here. Initial may be nil.
type Gradients struct {
	States             []float32
	RelationEmbeddings []float32
	Previous           []float32
	Initial            []float32
	DegreeMessage      []float32
}

// NodeUpdate is the last step of n entities' updates:
//
//	output = residual + dropout(relu(scale * layer_norm(linear + bias) + shift))
type NodeUpdate struct {
	Dim int
	// Rows are the updated rows of Residual and Output, LinearRows the rows of Linear,
	// InverseDeviation and Mask, [n] each.
	Rows, LinearRows []int32
	// Linear is the linear map's output, [.., Dim], without its Bias, [Dim] or nil for
	// none. Normalize replaces it by the normalized values before scale and shift, which
	// NormalizeBackward reads. With a nil InverseDeviation its contents are undefined afterwards.
	Linear, Bias []float32
	// InverseDeviation receives 1 / sqrt(variance + epsilon) of each row. It is nil without a
	// backward pass: while scoring, where nothing is dropped.
	InverseDeviation []float32
	// Scale and Shift are [Dim], or both nil for a normalization that is not affine.
	Scale, Shift []float32
	// Mask is the dropout mask, a bit per dimension, ceil(Dim/32) words a row: dimension j is
	// kept where bit j%32 of word j/32 is set, and multiplied by MaskScale. Nil keeps all.
	Mask      []uint32
	MaskScale float32
	// Residual is [rows, Dim], or nil for zeros. Output, [rows, Dim], may not overlap it.
	Residual, Output []float32
}

// NodeUpdateGradients are the results of NormalizeBackward: Linear, [.., Dim], is set in the
// rows of LinearRows; Bias, Scale and Shift, [Dim], are added to unless they are nil.
type NodeUpdateGradients struct {
	Linear             []float32
	Bias, Scale, Shift []float32
}
