package checkpoint

import (
	"errors"
	"fmt"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/parameters"
)

// ErrMismatch is wrapped by the errors of a checkpoint that was trained on other data.
var ErrMismatch = errors.New("the checkpoint was trained on other data")

// UnknownRelationsError is the error of a graph with relations that a model was not trained with.
type UnknownRelationsError struct {
	// Unknown are these relations; Unused are the model's relations that the graph lacks.
	Unknown, Unused []string
}

// Error counts the relations, and names the first of them, many of the ones that the model lacks, which decide whether
// it can be used.
func (e *UnknownRelationsError) Error() string {
	text := fmt.Sprintf("the model does not know %d of the graph's relations (%s)", len(e.Unknown), names.First(e.Unknown, 12))
	if len(e.Unused) > 0 {
		text += fmt.Sprintf(", and the graph lacks %d of the model's (%s)", len(e.Unused), names.First(e.Unused, 3))
	}
	return text
}

// Unwrap returns ErrMismatch.
func (e *UnknownRelationsError) Unwrap() error { return ErrMismatch }

// Over returns the parameters of the record's weights over the relations of another graph, which are matched by name,
// and the relations whose weights are left out because the graph lacks them. The error of a relation that the weights
// lack is an *UnknownRelationsError.
func (r Record) Over(weights []safetensors.Tensor[float32], relations []string) (set *parameters.Set[float32], unused []string, err error) {
	if r.Configuration.Transfers() || slices.Equal(r.Vocabulary.Relations, relations) {
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
	byRelation := parameters.OfRelations(r.Configuration)
	for i, t := range set.Tensors {
		if data := from.Tensors[i].Data; byRelation[i] {
			parameters.CopyRelations(t.Data, data, len(trained), rows)
		} else {
			copy(t.Data, data)
		}
	}
	return set, unused, nil
}
