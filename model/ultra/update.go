package ultra

import "tagnet/model/kernel"

// blockRows is the number of rows that are updated or scored at a time: their buffers stay in the second-level cache.
const blockRows = 128

// buffers are those of a worker.
type buffers struct {
	features []float32 // of receivers: state and sum of messages, [blockRows, 128]
	linear   []float32 // [blockRows, 64]
	hidden   []float32 // of the head, [blockRows, 128]
	values   []float32 // [blockRows]
	index    []int32   // 0, 1, 2, ..
}

func newBuffers() *buffers {
	b := &buffers{
		features: make([]float32, blockRows*2*Dim), linear: make([]float32, blockRows*Dim), hidden: make([]float32, blockRows*2*Dim),
		values: make([]float32, blockRows), index: make([]int32, blockRows),
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

// update describes the update of rows by a layer.
type update struct {
	*layer
	// receivers has the rows and the messages. Its Previous are the states that the update adds to.
	receivers kernel.Receivers
	// residual is Previous, or nil where the output is the change alone.
	residual []float32
	output   []float32
	// linear, if not nil, receives the linear map's output without its bias, in the rows of output, which are consecutive.
	linear []float32
	// ground, if not nil, is what the ground states contribute: the states are differences to them. ranks are the rows of ground.
	ground *groundLayer
	ranks  []int32
}

// run computes the update block by block.
func (b *buffers) run(k kernel.Kernel, u update) {
	rows := u.receivers.Rows
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		b.block(k, &u, rows[:n])
		rows = rows[n:]
	}
}

func (b *buffers) block(k kernel.Kernel, u *update, rows []int32) {
	n := len(rows)
	linear := b.linear[:n*Dim]
	u.receivers.Rows, u.receivers.FeatureRows = rows, b.index[:n]
	k.Aggregate(&u.receivers, b.features)
	if u.ground != nil {
		for i, row := range rows {
			copy(linear[i*Dim:(i+1)*Dim], u.ground.linear[int(u.ranks[row])*Dim:])
		}
	}
	if u.receivers.Previous == nil {
		k.MultiplyRows(linear, b.features[Dim:], 2*Dim, u.matrix[Dim*Dim:], n, Dim, Dim, u.ground != nil)
	} else {
		k.Multiply(linear, b.features, u.matrix, n, 2*Dim, Dim, u.ground != nil)
	}
	if u.linear != nil {
		copy(u.linear[int(rows[0])*Dim:], linear)
	}
	k.Normalize(&kernel.NodeUpdate{
		Dim: Dim, Rows: rows, LinearRows: b.index[:n], Linear: linear, Bias: u.bias, Scale: u.scale, Shift: u.shift,
		Residual: u.residual, Output: u.output,
	})
	if u.ground != nil {
		for _, row := range rows {
			k.Add(rowOf(u.output, row), rowOf(u.ground.fall, u.ranks[row]))
		}
	}
}

// rowOf returns a view of a row of 64.
func rowOf(table []float32, row int32) []float32 { return table[int(row)*Dim : (int(row)+1)*Dim] }
