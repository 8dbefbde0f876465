package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/model/parameters"
)

// Locate returns the folder and the name, for Folder.Record, of a checkpoint as users write it: best, last, or the
// number or name of an epoch in folder, or the path of a checkpoint's file in any folder.
func Locate(folder Folder, checkpoint string) (Folder, string) {
	name := checkpoint
	if i := strings.LastIndexAny(checkpoint, "/\\"); i >= 0 {
		folder, name = Folder(checkpoint[:max(i, 1)]), checkpoint[i+1:] // the root keeps its slash
	}
	for _, ending := range endings {
		name = strings.TrimSuffix(name, ending)
	}
	if epoch, err := strconv.Atoi(name); err == nil {
		name = EpochName(epoch)
	}
	return folder, path.Clean(name)
}

// ErrMismatch is wrapped by the errors of a checkpoint that was trained on other data.
var ErrMismatch = errors.New("the checkpoint was trained on other data")

// Model returns the record of a checkpoint, named as for Record, and the parameters of its model. The error wraps
// ErrMismatch if it was trained with other base relations, or on a graph whose vocabulary hash is none of these, unless no weight
// belongs to a relation.
func (f Folder) Model(ctx context.Context, name string, relations []string, vocabularies ...string) (Record, *parameters.Set[float32], error) {
	r, weights, err := f.Load(ctx, name)
	if err != nil {
		return r, nil, err
	}
	url := f.url(r.Name() + ".safetensors")
	if err := r.Fits(relations, vocabularies...); err != nil {
		return r, nil, fmt.Errorf("%s: %w: %w", url, ErrMismatch, err)
	}
	p := parameters.NewSet[float32](parameters.Layout(r.Configuration, 2*len(relations)))
	if err := Fill(p, weights); err != nil {
		return r, nil, fmt.Errorf("%s: %w", url, err)
	}
	return r, p, nil
}

// ModelOver is Model for facts with any entities, which no weight belongs to. Of the model's relations the facts may lack some; the error
// of one that the model lacks wraps ErrMismatch.
func (f Folder) ModelOver(ctx context.Context, name string, relations []string) (Record, *parameters.Set[float32], error) {
	r, weights, err := f.Load(ctx, name)
	if err != nil {
		return r, nil, err
	}
	p, _, err := r.Over(weights, relations)
	if unknown := new(UnknownRelationsError); errors.As(err, &unknown) {
		err = fmt.Errorf("%w: it never saw the relation %q: leave out the facts with it, or train with them", ErrMismatch, unknown.Unknown[0])
	}
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w", f.url(r.Name()+".safetensors"), err)
	}
	return r, p, nil
}

// Fits returns an error unless a model was trained with the base relations of a graph and on one that has, or had before facts were
// appended, one of these vocabulary hashes; or no weight belongs to a relation.
func (r Record) Fits(relations []string, vocabularies ...string) error {
	if r.Configuration.Transfers() {
		return nil
	}
	if err := sameRelations(r.Vocabulary.Relations, relations); err != nil {
		return err
	}
	if !slices.Contains(vocabularies, r.Vocabulary.Hash) {
		return remedy.Errorf("use the workspace it was trained in, and preprocess --inference to ask about another graph",
			"its %d entities differ from the training graph's", r.Vocabulary.Entities)
	}
	return nil
}

// sameRelations returns an error that names the first difference between two lists of relations.
func sameRelations(trained, wanted []string) error {
	known := map[string]bool{}
	for _, name := range trained {
		known[name] = true
	}
	for _, name := range wanted {
		if !known[name] {
			return fmt.Errorf("it never saw the relation %q", name)
		}
		delete(known, name)
	}
	for _, name := range trained {
		if known[name] {
			return fmt.Errorf("its relation %q is not in the graph", name)
		}
	}
	for i, name := range trained {
		if wanted[i] != name {
			return fmt.Errorf("its relation %d is %q, the graph's is %q", i, name, wanted[i])
		}
	}
	return nil
}
