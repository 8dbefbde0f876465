package propagation

// tables are the states, and the gradients of states, of all layered policies, by row of the layout.
type tables struct {
	*runner
	layeredPolicy layered
	states        stateTables // [V, dim] each
	divisor       []float32   // 1 / (degree + 1), by row
	copies        []float32   // number of degree messages, by row
	needed        needed
	firstRows     []int // where each layer's updates begin in activations, [layers+1]
	final         finalStates
	gradients     stateTables // of states
}

func newTables(r *runner) *tables {
	return &tables{runner: r, firstRows: make([]int, r.configuration.Layers+1)}
}
