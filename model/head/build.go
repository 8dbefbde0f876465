package head

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"tagnet/model/configuration"
	"tagnet/model/parameters"
)

// builder builds a head's graph.
type builder[F parameters.Float] struct {
	head          *Head[F]
	configuration configuration.Configuration
	set           *parameters.Set[F]
	products      Products[F]

	count, depth, width int // candidates, states of each, entries of a state

	graph  *gorgonia.ExprGraph
	query  *gorgonia.Node
	inputs map[string]*gorgonia.Node // the parameters by name
	order  []string                  // their names in the order of first use
}

func (b *builder[F]) build(propagation Propagation[F]) error {
	d := b.configuration.Dim
	b.head.query = make([]F, d)
	b.query = b.input("query", dense(b.head.query, d))
	states, err := apply("propagate", propagate[F]{propagation, b.head.candidates},
		tensor.Shape{b.count * b.depth, b.width}, b.query)
	if err != nil {
		return err
	}
	scores, err := b.scores(states)
	if err != nil {
		return err
	}
	loss, err := b.loss(scores)
	if err != nil {
		return err
	}
	if err := b.gradients(loss); err != nil {
		return err
	}
	b.head.machine, err = newMachine(b.graph, loss)
	return err
}

// scores adds the nodes from the candidates' states, [n D, W], to their scores, [n].
func (b *builder[F]) scores(states *gorgonia.Node) (*gorgonia.Node, error) {
	c := b.configuration
	switch {
	case c.Prioritized():
		if b.depth != 1 || b.width != 1 {
			return nil, fmt.Errorf("policy %s: a candidate has %d states of %d, want its score alone", c.Policy, b.depth, b.width)
		}
		return apply("score", flatten[F]{}, tensor.Shape{b.count}, states)
	case c.Specific():
		attended, err := b.attend(states)
		if err != nil {
			return nil, err
		}
		return b.mlp("score", "mlp", b.count, attended)
	case b.depth != 1:
		return nil, fmt.Errorf("delta_mode %s: a candidate has %d states, want 1", c.DeltaMode, b.depth)
	}
	return b.mlp("score", "mlp", b.count, states)
}

// attend adds the attention that reduces the states of every candidate to one, [n, W].
func (b *builder[F]) attend(states *gorgonia.Node) (*gorgonia.Node, error) {
	module := "attention"
	if b.configuration.Attention == configuration.AttentionShared {
		module = "mlp"
	}
	logits, err := b.mlp("attention", module, b.count*b.depth, states)
	if err != nil {
		return nil, err
	}
	r := &attend[F]{
		depth: b.depth, width: b.width, temperature: b.configuration.AttentionTemperature,
		candidates: b.head.candidates, attention: make([]F, b.count*b.depth),
	}
	return apply("attend", r, tensor.Shape{b.count, b.width}, states, logits)
}

// mlp adds module.2(relu(module.0([x, x_q]))) for the rows of x, [n, W]. Its output is [n].
func (b *builder[F]) mlp(name, module string, n int, x *gorgonia.Node) (*gorgonia.Node, error) {
	d := b.configuration.Dim
	var inner, outer [2]*gorgonia.Node
	for i, part := range []string{".weight", ".bias"} {
		var err error
		if inner[i], err = b.parameter(module + ".0" + part); err != nil {
			return nil, err
		}
		if outer[i], err = b.parameter(module + ".2" + part); err != nil {
			return nil, err
		}
	}
	hidden, err := apply(name+" hidden", newConditioned(n, b.width, d, 2*d, b.products), tensor.Shape{n, 2 * d}, x, b.query, inner[0], inner[1])
	if err != nil {
		return nil, err
	}
	activated, err := apply(name+" relu", relu[F]{b.products}, tensor.Shape{n, 2 * d}, hidden)
	if err != nil {
		return nil, err
	}
	return apply(name+" output", output[F]{n, 2 * d, b.products}, tensor.Shape{n}, activated, outer[0], outer[1])
}

// loss adds the nodes from the scores, [n], to the query's loss, a scalar.
func (b *builder[F]) loss(scores *gorgonia.Node) (*gorgonia.Node, error) {
	signs := make([]F, b.count)
	signs[0] = -1
	for i := range signs[1:] {
		signs[1+i] = 1
	}
	signed, err := gorgonia.HadamardProd(scores, b.input("signs", dense(signs, b.count)))
	if err != nil {
		return nil, fmt.Errorf("multiplying the scores by their signs: %w", err)
	}
	terms, err := apply("softplus", softplus[F]{}, tensor.Shape{b.count}, signed)
	if err != nil {
		return nil, err
	}
	weights, err := apply("weights", b.head.weights, tensor.Shape{b.count}, scores)
	if err != nil {
		return nil, err
	}
	weighted, err := gorgonia.HadamardProd(terms, weights)
	if err != nil {
		return nil, fmt.Errorf("weighting the terms of the loss: %w", err)
	}
	return gorgonia.Sum(weighted)
}

// gradients differentiates the loss by every parameter in use and by the query's embedding, and adds
// nodes that copy the results out.
func (b *builder[F]) gradients(loss *gorgonia.Node) error {
	by := gorgonia.Nodes{b.query}
	for _, name := range b.order {
		by = append(by, b.inputs[name])
	}
	results, err := gorgonia.Grad(loss, by...)
	if err != nil {
		return fmt.Errorf("differentiating the loss: %w", err)
	}
	h := b.head
	h.names = b.order
	h.into.Query = make([]F, b.configuration.Dim)
	h.into.Tensors = make([][]F, len(b.order))
	if err := b.collect("query", results[0], &h.into.Query); err != nil {
		return err
	}
	for i, name := range b.order {
		h.into.Tensors[i] = make([]F, len(b.set.Data(name)))
		if err := b.collect(name, results[1+i], &h.into.Tensors[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder[F]) collect(name string, gradient *gorgonia.Node, into *[]F) error {
	_, err := apply("collect "+name, collect[F]{into}, tensor.Shape{1}, gradient)
	return err
}

// parameter returns the node of a tensor of the set, which it adds at first use.
func (b *builder[F]) parameter(name string) (*gorgonia.Node, error) {
	if node, ok := b.inputs[name]; ok {
		return node, nil
	}
	t := b.set.Tensor(name)
	if t == nil {
		return nil, fmt.Errorf("the parameters have no %s", name)
	}
	node := b.input(name, dense(t.Data, t.Shape...))
	b.inputs[name] = node
	b.order = append(b.order, name)
	return node, nil
}

// input adds a node with a value, which is shared and not copied.
func (b *builder[F]) input(name string, value *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewTensor(b.graph, dtype[F](), value.Dims(),
		gorgonia.WithShape(value.Shape()...), gorgonia.WithName(name), gorgonia.WithValue(value))
}
