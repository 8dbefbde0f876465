package tables

import (
	"context"
	"fmt"
)

// Lists are lists of entities, ascending: the sources of queries, and the only answers that they may have. A nil list
// stands for all entities.
type Lists struct{ Sources, Candidates []int32 }

// The types of the table that holds Lists.
const sourceType, candidateType = "source", "candidate"

// WriteLists writes lists as a table of types.
func WriteLists(ctx context.Context, url string, l Lists) error {
	w, err := CreateTypes(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, list := range []Type{{Name: candidateType, Entities: l.Candidates}, {Name: sourceType, Entities: l.Sources}} {
		for _, entity := range list.Entities {
			if err := w.Write(entity, list.Name); err != nil {
				return err
			}
		}
	}
	return w.Commit()
}

// ReadLists reads what WriteLists wrote for a graph of that many entities.
func ReadLists(ctx context.Context, url string, entities int) (l Lists, err error) {
	types, err := ReadTypes(ctx, url)
	if err != nil {
		return l, err
	}
	for _, t := range types {
		if last := t.Entities[len(t.Entities)-1]; int(last) >= entities {
			return l, fmt.Errorf("%s: %s %d is not in the graph", url, t.Name, last)
		}
		switch t.Name {
		case sourceType:
			l.Sources = t.Entities
		case candidateType:
			l.Candidates = t.Entities
		}
	}
	return l, nil
}
