package pretrained

import (
	"fmt"

	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/parameters"
	"tagnet/model/ultra"
)

// ofULTRA are ULTRA's weights: they are a model of any graph.
type ofULTRA struct {
	origin     checkpoint.Origin
	parameters *parameters.Set[float32]
}

func (w *ofULTRA) Origin() checkpoint.Origin { return w.origin }

func (w *ofULTRA) Start() configuration.Configuration { return ultra.Configuration() }

func (w *ofULTRA) Further() configuration.Configuration { return w.Start() }

func (w *ofULTRA) Configuration(c configuration.Configuration) configuration.Configuration {
	return ultra.TrainedAs(c)
}

func (w *ofULTRA) Over(graph *kg.KG, c configuration.Configuration) (*Checkpoint, error) {
	return NewCheckpoint(checkpoint.Record{Configuration: c, Origin: &w.origin}, w.parameters, nil, graph)
}

func (w *ofULTRA) Describe(configuration.Configuration) string {
	text := fmt.Sprintf("ULTRA, %d layers between relations and %[1]d between entities, %d dimensions", ultra.Layers, ultra.Dim)
	if graphs := Graphs(w.origin); graphs != "" {
		text += "; trained on " + graphs
	}
	return text
}
