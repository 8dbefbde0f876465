package checkpoint

import (
	"fmt"

	"tagnet/formats/safetensors"
	"tagnet/model/parameters"
)

// UnknownRelationsError is the error of a graph with relations that a model was not trained with.
type UnknownRelationsError struct {
	// Unknown are those relations; Unused are the model's that the graph lacks.
	Unknown, Unused []string
}

// Error counts the relations.
func (e *UnknownRelationsError) Error() string {
	return fmt.Sprintf("%d relations of the graph are unknown to the model", len(e.Unknown))
}

// Over returns the parameters of the record's weights over the relations of another graph, which are matched by name, and
// the relations whose weights are left out because the graph lacks them. The error of a relation that the weights lack is an
// *UnknownRelationsError.
func (r Record) Over(weights []safetensors.Tensor, relations []string) (set *parameters.Set[float32], unused []string, err error) {
	if r.Configuration.Transfers() { // to any relations
		set = parameters.NewSet[float32](parameters.Layout(r.Configuration, 2*len(relations)))
		return set, nil, Fill(set, weights)
	}
	trained := r.Vocabulary.Relations
	rows, unknown, unused := parameters.MatchRelations(trained, relations)
	if len(unknown) > 0 {
		return nil, nil, &UnknownRelationsError{unknown, unused}
	}
	from := parameters.NewSet[float32](parameters.Layout(r.Configuration, 2*len(trained)))
	if err := Fill(from, weights); err != nil {
		return nil, nil, err
	}
	set = parameters.NewSet[float32](parameters.Layout(r.Configuration, 2*len(relations)))
	for i, t := range set.Tensors {
		if data := from.Tensors[i].Data; parameters.OfRelations(t.Name) {
			parameters.CopyRelations(t.Data, data, len(trained), rows)
		} else {
			copy(t.Data, data)
		}
	}
	return set, unused, nil
}
