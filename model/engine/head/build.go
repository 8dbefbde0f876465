package head

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
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

// build builds the computation graph from the query's embedding to the loss and its gradients. Errors of nodes arrive
// as panics of failure.
func (b *builder[F]) build(propagation Propagation[F]) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			failed, ok := panicked.(failure)
			if !ok {
				panic(panicked)
			}
			err = failed.error
		}
	}()
	d := b.configuration.Dim
	b.head.query = make([]F, d)
	b.query = b.input("query", dense(b.head.query, d))
	states := must(apply("propagate", &propagate[F]{propagation: propagation, candidates: b.head.candidates},
		tensor.Shape{b.count * b.depth, b.width}, b.query))
	loss := b.loss(b.scores(states))
	b.gradients(loss)
	b.head.machine, err = newMachine(b.graph, loss)
	return err
}

// failure is the panic that ends building with an error; build recovers it.
type failure struct{ error }

// must returns a node that was added to the graph, and ends building if there was an error.
func must(node *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(failure{err})
	}
	return node
}

// scores adds the nodes from the candidates' states, [n D, W], to their scores, [n].
func (b *builder[F]) scores(states *gorgonia.Node) *gorgonia.Node {
	c := b.configuration
	switch {
	case c.Prioritized():
		if b.depth != 1 || b.width != 1 {
			panic(failure{fmt.Errorf("policy %s: a candidate has %d states of %d, want its score alone", c.Policy, b.depth, b.width)})
		}
		return must(apply("score", flatten[F]{}, tensor.Shape{b.count}, states))
	case c.Specific():
		return b.mlp("score", "mlp", b.count, b.attend(states))
	case b.depth != 1:
		panic(failure{fmt.Errorf("delta_mode %s: a candidate has %d states, want 1", c.DeltaMode, b.depth)})
	}
	return b.mlp("score", "mlp", b.count, states)
}

// attend adds the attention that reduces the states of every candidate to one, [n, W].
func (b *builder[F]) attend(states *gorgonia.Node) *gorgonia.Node {
	module := "attention"
	if b.configuration.Attention == configuration.AttentionShared {
		module = "mlp"
	}
	logits := b.mlp("attention", module, b.count*b.depth, states)
	r := &attend[F]{
		depth: b.depth, width: b.width, temperature: b.configuration.AttentionTemperature,
		candidates: b.head.candidates, attention: make([]F, b.count*b.depth),
	}
	return must(apply("attend", r, tensor.Shape{b.count, b.width}, states, logits))
}

// mlp adds module.2(relu(module.0([x, x_q]))) for the rows of x, [n, W]. Its output is [n].
func (b *builder[F]) mlp(name, module string, n int, x *gorgonia.Node) *gorgonia.Node {
	d := b.configuration.Dim
	var inner, outer [2]*gorgonia.Node
	for i, part := range []string{".weight", ".bias"} {
		inner[i], outer[i] = b.parameter(module+".0"+part), b.parameter(module+".2"+part)
	}
	hidden := must(apply(name+" hidden", newConditioned(n, b.width, d, 2*d, b.products), tensor.Shape{n, 2 * d}, x, b.query, inner[0], inner[1]))
	activated := must(apply(name+" relu", relu[F]{b.products}, tensor.Shape{n, 2 * d}, hidden))
	return must(apply(name+" output", output[F]{n, 2 * d, b.products}, tensor.Shape{n}, activated, outer[0], outer[1]))
}

// loss adds the nodes from the scores, [n], to the query's loss, a scalar.
func (b *builder[F]) loss(scores *gorgonia.Node) *gorgonia.Node {
	var loss rule[F] = &binaryLoss[F]{temperature: b.configuration.AdversarialTemperature, share: &b.head.share, weights: make([]F, b.count)}
	if b.configuration.Loss == configuration.LossSoftmax {
		loss = &softmaxLoss[F]{share: &b.head.share, probabilities: make([]F, b.count)}
	}
	return must(gorgonia.Sum(must(apply("loss", loss, tensor.Shape{1}, scores))))
}

// gradients differentiates the loss by every parameter in use and by the query's embedding, and adds
// nodes that copy the results out.
func (b *builder[F]) gradients(loss *gorgonia.Node) {
	by := gorgonia.Nodes{b.query}
	for _, name := range b.order {
		by = append(by, b.inputs[name])
	}
	results, err := gorgonia.Grad(loss, by...)
	if err != nil {
		panic(failure{fmt.Errorf("differentiating the loss: %w", err)})
	}
	h := b.head
	h.names = b.order
	h.into.Tensors = make([][]F, len(b.order))
	b.collect("query", results[0], &h.gradient)
	for i, name := range b.order {
		h.into.Tensors[i] = make([]F, len(b.set.Data(name)))
		b.collect(name, results[1+i], &h.into.Tensors[i])
	}
}

func (b *builder[F]) collect(name string, gradient *gorgonia.Node, into *[]F) {
	must(apply("collect "+name, collect[F]{into, b.head.candidates}, tensor.Shape{1}, gradient))
}

// parameter returns the node of a tensor of the set, which it adds at first use.
func (b *builder[F]) parameter(name string) *gorgonia.Node {
	if node, ok := b.inputs[name]; ok {
		return node
	}
	t := b.set.Tensor(name)
	if t == nil {
		panic(failure{fmt.Errorf("the parameters have no %s", name)})
	}
	node := b.input(name, dense(t.Data, t.Shape...))
	b.inputs[name] = node
	b.order = append(b.order, name)
	return node
}

// input adds a node with a value, which is shared and not copied.
func (b *builder[F]) input(name string, value *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewTensor(b.graph, dtype[F](), value.Dims(),
		gorgonia.WithShape(value.Shape()...), gorgonia.WithName(name), gorgonia.WithValue(value))
}
