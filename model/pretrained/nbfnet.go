package pretrained

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"tagnet/formats/triples"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/nbfnet"
)

// ofNBFNet are weights of NBFNet-PyG, with the names of their relations.
type ofNBFNet struct {
	origin  checkpoint.Origin
	weights *nbfnet.Weights
	options Options
	names   []string
}

// newNBFNet reads the names of the relations of weights.
func newNBFNet(ctx context.Context, origin checkpoint.Origin, weights *nbfnet.Weights, o Options) (Weights, error) {
	text, err := read(ctx, o.Relations)
	if err != nil {
		return nil, err
	}
	w := &ofNBFNet{origin: origin, weights: weights, options: o}
	lines := map[string]int{}
	err = triples.ReadNames(o.Relations, bytes.NewReader(text), func(line int, name string) error {
		if first := lines[name]; first > 0 {
			return fmt.Errorf("%s:%d: the relation %q is already in line %d", o.Relations, line, name, first)
		}
		lines[name] = line
		w.names = append(w.names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(w.names); n != weights.Relations {
		return nil, &FileError{o.Relations, fmt.Errorf("it has %d relations, the weights of %s have %d without their inverses", n, origin.File, weights.Relations), true}
	}
	w.origin.Relations = fmt.Sprintf("%x", sha256.Sum256(text))
	return w, nil
}

func (w *ofNBFNet) Origin() checkpoint.Origin { return w.origin }

func (w *ofNBFNet) Start() configuration.Configuration { return configuration.Default() }

func (w *ofNBFNet) Further() configuration.Configuration { return w.Start() }

func (w *ofNBFNet) Configuration(c configuration.Configuration) (configuration.Configuration, error) {
	return w.weights.Configuration(c, w.options.Options)
}

func (w *ofNBFNet) Over(graph *kg.KG, c configuration.Configuration) (*Checkpoint, error) {
	p, unused, err := w.weights.Parameters(c, w.names, graph.Relations)
	if err != nil {
		return nil, &FileError{URL: w.options.Relations, Reason: err}
	}
	return NewCheckpoint(checkpoint.Record{Configuration: c, Origin: &w.origin}, p, unused, graph)
}

func (w *ofNBFNet) Describe(c configuration.Configuration) string {
	embeddings := "relation embeddings of each layer"
	if c.Dependent {
		embeddings = "relation embeddings that depend on the query"
	}
	return fmt.Sprintf("NBFNet of %d layers, %d dimensions, %s, %s, %s", c.Layers, c.Dim, c.Aggregate, c.Message, embeddings)
}
