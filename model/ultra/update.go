package ultra

import "tagnet/model/kernel"

// blockRows is the number of rows that are updated at a time, headRows that of rows that are scored: their buffers stay in the
// second-level and in the first-level cache.
const (
	blockRows = 128
	headRows  = 48
)

// buffers are those of a worker.
type buffers struct {
	features []float32 // of receivers: state and sum of messages, [blockRows, 128]
	linear   []float32 // [blockRows, 64]
	hidden   []float32 // of the head, [headRows, 128]
	values   []float32 // [headRows]
	index    []int32   // 0, 1, 2, ..
	backward *backwardBuffers

	// What is passed to the kernel, which would be allocated for each call otherwise.
	receivers kernel.Receivers
	update    kernel.NodeUpdate
}

func newBuffers() *buffers {
	b := &buffers{
		features: make([]float32, blockRows*2*Dim), linear: make([]float32, blockRows*Dim), hidden: make([]float32, headRows*2*Dim),
		values: make([]float32, headRows), index: make([]int32, blockRows),
	}
	for i := range b.index {
		b.index[i] = int32(i)
	}
	return b
}

// receivers describes the sums of messages to the kernel, except for their rows.
func receivers(senders kernel.Senders, states, table []float32) kernel.Receivers {
	return kernel.Receivers{
		Dim: Dim, Message: kernel.DistMult, Reduction: kernel.Sum, Senders: senders, Kinds: 1, States: states, RelationEmbeddings: table,
	}
}

// update describes the update of consecutive rows by a layer.
type update struct {
	*layer
	// receivers has the rows and the messages. Its Previous are the states that the update adds to, or nil for zeros.
	receivers kernel.Receivers
	output    []float32
	// keep, if not nil, receives the linear map's output without its bias, in the rows of output.
	keep []float32
	// shared, if not nil, has the linear map's outputs for the ground states, and ranks the row of shared for each row: then the
	// states are differences to the ground states.
	shared []float32
	ranks  []int32
}

// run computes the update block by block.
func (b *buffers) run(k kernel.Kernel, u update) {
	b.prepare(u)
	rows := u.receivers.Rows
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		b.block(k, &u, rows[:n])
		rows = rows[n:]
	}
}

func (b *buffers) prepare(u update) {
	b.receivers = u.receivers
	b.update = kernel.NodeUpdate{Dim: Dim, Bias: u.bias, Scale: u.scale, Shift: u.shift, Residual: u.receivers.Previous, Output: u.output}
}

func (b *buffers) block(k kernel.Kernel, u *update, rows []int32) {
	n, first := len(rows), int(rows[0])
	linear := b.linear[:n*Dim]
	b.receivers.Rows, b.receivers.FeatureRows = rows, b.index[:n]
	k.Aggregate(&b.receivers, b.features)
	if u.receivers.Previous == nil {
		k.MultiplyRows(linear, b.features[Dim:], 2*Dim, u.matrix[Dim*Dim:], n, Dim, Dim, false)
	} else {
		k.Multiply(linear, b.features, u.matrix, n, 2*Dim, Dim, false)
	}
	if u.keep != nil {
		copy(u.keep[first*Dim:], linear)
	}
	b.update.Rows, b.update.LinearRows, b.update.Linear = rows, b.index[:n], linear
	if u.shared == nil {
		k.Normalize(&b.update)
		return
	}
	k.NormalizeDifference(&b.update, u.shared, u.ranks[first:first+n])
}

// backwardBuffers are those of blocks of a backward pass, which only training needs.
type backwardBuffers struct {
	deviations []float32 // 1 / standard deviation of the linear map's output, [blockRows]
	linear     []float32 // gradient of the linear map's output, [blockRows, 64]
	features   []float32 // gradient of its input, [blockRows, 128]

	// What is passed to the kernel.
	update    kernel.NodeUpdateGradients
	gradients kernel.Gradients
}

func newBackwardBuffers() *backwardBuffers {
	return &backwardBuffers{
		deviations: make([]float32, blockRows), linear: make([]float32, blockRows*Dim), features: make([]float32, blockRows*2*Dim),
	}
}

// runBackward propagates the gradient of an update's output, by row, to its inputs. It computes the update again.
func (b *buffers) runBackward(k kernel.Kernel, u update, gradient []float32, into *layerGradients, to kernel.Gradients) {
	b.backward.gradients = to
	b.backward.update = kernel.NodeUpdateGradients{Linear: b.backward.linear, Bias: into.bias, Scale: into.scale, Shift: into.shift}
	b.prepare(u)
	b.update.InverseDeviation = b.backward.deviations
	rows := u.receivers.Rows
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		b.block(k, &u, rows[:n])
		b.blockBackward(k, &u, gradient, into, rows[:n])
		rows = rows[n:]
	}
}

func (b *buffers) blockBackward(k kernel.Kernel, u *update, gradient []float32, into *layerGradients, rows []int32) {
	n, w := len(rows), b.backward
	linear, features := w.linear[:n*Dim], w.features[:n*2*Dim]
	k.NormalizeBackward(&b.update, gradient, &w.update)
	k.MultiplyTransposed(into.weight, linear, b.features, n, Dim, 2*Dim, true)
	k.Multiply(features, linear, u.stored, n, Dim, 2*Dim, false)
	for _, row := range rows { // the residual
		k.Add(rowOf(w.gradients.Previous, row), rowOf(gradient, row))
	}
	k.AggregateBackward(&b.receivers, b.features, features, &w.gradients)
}

// rowOf returns a view of a row of 64.
func rowOf(table []float32, row int32) []float32 { return table[int(row)*Dim : (int(row)+1)*Dim] }
