package relations

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// blockRows is the number of rows that are updated at a time: their buffers stay in the second-level cache.
const blockRows = 128

// stackBuffers holds the buffers that a stack updates a block of rows with.
type stackBuffers struct {
	dim      int
	features []float32 // of receivers: state and sum of messages, [blockRows, 2 dim]
	linear   []float32 // [blockRows, dim]
	index    []int32   // 0, 1, 2, ..
	backward *backwardBuffers

	// Arguments of the kernel, fields so that no call allocates them.
	receivers kernel.Receivers
	update    kernel.NodeUpdate
}

// newStackBuffers returns buffers for states of dim dimensions.
func newStackBuffers(dim int) *stackBuffers {
	return &stackBuffers{dim: dim, features: make([]float32, blockRows*2*dim), linear: make([]float32, blockRows*dim),
		index: parallel.Indices[int32](blockRows)}
}

// receivers describes the sums of messages to the kernel, except for their rows.
func receivers(dim int, senders kernel.Senders, states, table []float32) kernel.Receivers {
	return kernel.Receivers{
		Dim: dim, Message: kernel.DistMult, Reduction: kernel.Sum, Senders: senders, Kinds: 1, States: states, RelationEmbeddings: table,
	}
}

// update describes the update of consecutive rows by a layer.
type update struct {
	*layer
	receivers kernel.Receivers // the rows, the messages, and the states that the update adds to
	output    []float32
}

// run computes the update block by block.
func (b *stackBuffers) run(k kernel.Kernel, u update) {
	b.prepare(u)
	rows := u.receivers.Rows
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		b.block(k, &u, rows[:n])
		rows = rows[n:]
	}
}

// prepare sets the kernel's arguments that all blocks of an update share.
func (b *stackBuffers) prepare(u update) {
	b.receivers = u.receivers
	b.update = kernel.NodeUpdate{Dim: b.dim, Bias: u.Bias, Scale: u.Scale, Shift: u.Shift, Residual: u.receivers.Previous, Output: u.output}
}

// block computes the update of at most blockRows rows: aggregation, linear map, layer norm with ReLU and residual.
func (b *stackBuffers) block(k kernel.Kernel, u *update, rows []int32) {
	n, d := len(rows), b.dim
	linear := b.linear[:n*d]
	b.receivers.Rows, b.receivers.FeatureRows = rows, b.index[:n]
	k.Aggregate(&b.receivers, b.features)
	k.Multiply(linear, b.features, u.Matrix, kernel.Product{Rows: n, Inner: 2 * d, Columns: d})
	b.update.Rows, b.update.LinearRows, b.update.Linear = rows, b.index[:n], linear
	k.Normalize(&b.update)
}

// backwardBuffers holds what the backward pass of a block needs besides: only training allocates it.
type backwardBuffers struct {
	deviations []float32 // 1 / standard deviation of the linear map's output, [blockRows]
	linear     []float32 // gradient of the linear map's output, [blockRows, dim]
	features   []float32 // gradient of its input, [blockRows, 2 dim]

	// Arguments of the kernel.
	update    kernel.NodeUpdateGradients
	gradients kernel.Gradients
}

// newBackwardBuffers returns buffers for blocks of states of dim dimensions.
func newBackwardBuffers(dim int) *backwardBuffers {
	return &backwardBuffers{
		deviations: make([]float32, blockRows), linear: make([]float32, blockRows*dim), features: make([]float32, blockRows*2*dim),
	}
}

// runBackward propagates the gradient of an update's output, by row, to its inputs. It computes the update again.
func (b *stackBuffers) runBackward(k kernel.Kernel, u update, gradient []float32, into *layerGradients, to kernel.Gradients) {
	if b.backward == nil {
		b.backward = newBackwardBuffers(b.dim)
	}
	b.backward.gradients = to
	b.backward.update = kernel.NodeUpdateGradients{Linear: b.backward.linear, Bias: into.Bias, Scale: into.Scale, Shift: into.Shift}
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

// blockBackward adds the gradients of a block, whose forward pass block has just computed again, in reverse order.
func (b *stackBuffers) blockBackward(k kernel.Kernel, u *update, gradient []float32, into *layerGradients, rows []int32) {
	n, d, w := len(rows), b.dim, b.backward
	linear, features := w.linear[:n*d], w.features[:n*2*d]
	k.NormalizeBackward(&b.update, gradient, &w.update)
	k.MultiplyTransposed(into.Weight, linear, b.features, kernel.Product{Rows: n, Inner: d, Columns: 2 * d, Add: true})
	k.Multiply(features, linear, u.Stored, kernel.Product{Rows: n, Inner: d, Columns: 2 * d})
	for _, i := range rows { // the residual
		k.Add(row(w.gradients.Previous, d, i), row(gradient, d, i))
	}
	k.AggregateBackward(&b.receivers, b.features, features, &w.gradients)
}

// row returns a view of the i-th row of dim entries.
func row(table []float32, dim int, i int32) []float32 {
	return table[int(i)*dim : (int(i)+1)*dim]
}
