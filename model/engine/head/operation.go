package head

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"tagnet/model/weights/parameters"
)

// rule is the arithmetic of an operation, on flat row-major arrays.
type rule[F parameters.Float] interface {
	// forward sets out from in.
	forward(in [][]F, out []F) error
	// backward sets gradients, one for each of in, from the gradient of out.
	backward(in [][]F, out, gradient []F, gradients [][]F) error
}

// operation is a Gorgonia operation that follows a rule. It owns its output and the gradients of its
// inputs, so that a run allocates none of them.
//
// Gorgonia needs an operation for the gradient of each input. These have all inputs of the backward pass, so that they
// run after the forward pass, and share one backward pass, which the first of them runs.
type operation[F parameters.Float] struct {
	named
	shapes    []tensor.Shape
	output    *tensor.Dense
	gradients []*tensor.Dense
	rule      rule[F]

	in, views               [][]F
	forwards, backwardsDone uint64
}

// named has the methods that all operations share. Names are unique in a graph: Gorgonia merges
// operations of equal hash.
type named string

func (n named) ReturnsPtr() bool      { return false }
func (n named) CallsExtern() bool     { return false }
func (n named) OverwritesInput() int  { return -1 }
func (n named) WriteHash(h hash.Hash) { fmt.Fprintf(h, "tagnet/%s", n) }
func (n named) String() string        { return string(n) }

func (n named) Hashcode() uint32 {
	h := fnv.New32a()
	n.WriteHash(h)
	return h.Sum32()
}

// apply adds an operation to the graph of its inputs.
func apply[F parameters.Float](name string, r rule[F], shape tensor.Shape, inputs ...*gorgonia.Node) (*gorgonia.Node, error) {
	o := &operation[F]{named: named(name), output: newDense[F](shape), rule: r, in: make([][]F, len(inputs))}
	for _, input := range inputs {
		o.shapes = append(o.shapes, input.Shape().Clone())
	}
	node, err := gorgonia.ApplyOp(o, inputs...)
	if err != nil {
		return nil, fmt.Errorf("adding %s to the graph: %w", name, err)
	}
	return node, nil
}

func newDense[F parameters.Float](shape tensor.Shape) *tensor.Dense {
	return tensor.New(tensor.Of(dtype[F]()), tensor.WithShape(shape...))
}

func dtype[F parameters.Float]() tensor.Dtype {
	if _, ok := any(F(0)).(float32); ok {
		return tensor.Float32
	}
	return tensor.Float64
}

// typeOf returns a new type at every call: Gorgonia recycles types in a pool.
func typeOf[F parameters.Float](shape tensor.Shape) hm.Type {
	return gorgonia.TensorType{Dims: shape.Dims(), Of: dtype[F]()}
}

func values[F parameters.Float](v gorgonia.Value) []F { return v.Data().([]F) }

func (o *operation[F]) Arity() int { return len(o.shapes) }

func (o *operation[F]) Type() hm.Type {
	types := make([]hm.Type, 0, len(o.shapes)+1)
	for _, shape := range o.shapes {
		types = append(types, typeOf[F](shape))
	}
	return hm.NewFnType(append(types, typeOf[F](o.output.Shape()))...)
}

func (o *operation[F]) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return o.output.Shape().Clone(), nil
}

// Do computes the output, in the buffer that all calls share.
func (o *operation[F]) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	o.forwards++
	for i, v := range inputs {
		o.in[i] = values[F](v)
	}
	if err := o.rule.forward(o.in, values[F](o.output)); err != nil {
		return nil, fmt.Errorf("%s: %w", o.named, err)
	}
	return o.output, nil
}

// DiffWRT reports for each of n inputs whether it has a gradient: all or none.
func (o *operation[F]) DiffWRT(n int) []bool {
	differentiable := make([]bool, n)
	if _, constant := o.rule.(constantRule); !constant {
		for i := range differentiable {
			differentiable[i] = true
		}
	}
	return differentiable
}

// constantRule marks a rule without a gradient.
type constantRule interface{ constant() }

// SymDiff returns a node for the gradient of each input. The first of them that runs computes all.
func (o *operation[F]) SymDiff(inputs gorgonia.Nodes, output, gradient *gorgonia.Node) (gorgonia.Nodes, error) {
	all := append(append(gorgonia.Nodes{}, inputs...), output, gradient)
	nodes := make(gorgonia.Nodes, len(inputs))
	for i := range inputs {
		dense := newDense[F](o.shapes[i])
		o.gradients = append(o.gradients, dense)
		o.views = append(o.views, values[F](dense))
		node, err := gorgonia.ApplyOp(&gradientOperation[F]{named(fmt.Sprintf("%s/gradient %d", o.named, i)), o, i}, all...)
		if err != nil {
			return nil, fmt.Errorf("differentiating %s by its input %d: %w", o.named, i, err)
		}
		nodes[i] = node
	}
	return nodes, nil
}

// gradientOperation is the gradient of an operation by one of its inputs.
type gradientOperation[F parameters.Float] struct {
	named
	operation *operation[F]
	input     int
}

func (g *gradientOperation[F]) Arity() int { return len(g.operation.shapes) + 2 }

// Type returns the type: inputs, output and its gradient to the gradient of one input.
func (g *gradientOperation[F]) Type() hm.Type {
	types := make([]hm.Type, 0, g.Arity()+1)
	for _, shape := range g.operation.shapes {
		types = append(types, typeOf[F](shape))
	}
	output := g.operation.output.Shape()
	return hm.NewFnType(append(types, typeOf[F](output), typeOf[F](output), typeOf[F](g.operation.shapes[g.input]))...)
}

func (g *gradientOperation[F]) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return g.operation.shapes[g.input].Clone(), nil
}

// Do returns the gradient of an input. The gradients of all inputs are computed once for each forward pass.
func (g *gradientOperation[F]) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	o := g.operation
	if o.backwardsDone != o.forwards {
		n := len(o.shapes)
		for i := range n {
			o.in[i] = values[F](inputs[i])
		}
		if err := o.rule.backward(o.in, values[F](inputs[n]), values[F](inputs[n+1]), o.views); err != nil {
			return nil, fmt.Errorf("gradient of %s: %w", o.named, err)
		}
		o.backwardsDone = o.forwards
	}
	return o.gradients[g.input], nil
}

// flatten copies [n, 1] to [n]. Gorgonia's own reshape shares memory that a later operation may overwrite.
type flatten[F parameters.Float] struct{}

func (flatten[F]) forward(in [][]F, out []F) error {
	copy(out, in[0])
	return nil
}

func (flatten[F]) backward(_ [][]F, _, gradient []F, gradients [][]F) error {
	copy(gradients[0], gradient)
	return nil
}
