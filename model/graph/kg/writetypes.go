package kg

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/tables"
)

// TypesParams are the parameters of WriteTypes.
type TypesParams struct {
	// Folder is the graph/ folder, whose other tables are complete; Spill takes spill files and is removed
	// in the end.
	Folder, Spill string
	// Inference selects the inference graph.
	Inference bool
	// Entities is the number of names, EdgeShards the number of files of edges.
	Entities   int64
	EdgeShards int
	// Each calls each with every entity and type that the dataset lists; nil for none.
	Each func(ctx context.Context, each func(entity, name []byte) error) error
	// Relation, unless empty, is the relation whose facts give their head the type that their tail
	// names. Only the facts of the graph count, not the facts of valid and test, which are to be predicted.
	Relation string
	// BufferBytes is the memory to sort in.
	BufferBytes int64
}

// maxUnknownNames bounds UnknownNames.
const maxUnknownNames = 3

// addUnknown counts a listed row whose entity the graph does not have.
func addUnknown(s *counts.Types, entity []byte) {
	s.Unknown++
	if len(s.UnknownNames) < maxUnknownNames && !slices.Contains(s.UnknownNames, string(entity)) {
		s.UnknownNames = append(s.UnknownNames, string(entity))
	}
}

// WriteTypes writes types.arrow or inference-types.arrow. It runs in the process of the pipeline, after the
// Beam job: it holds the ids of the entities, without their names, and the names of the types.
func WriteTypes(ctx context.Context, p TypesParams) (counts.Types, error) {
	var s counts.Types
	t := typesWriter{params: p, summary: &s, ranks: map[string]int32{}, tails: map[int32]string{}, relation: -1}
	file := TypesFile
	t.entities = EntitiesFile
	if p.Inference {
		file, t.entities = InferenceTypesFile, InferenceEntitiesFile
	}
	// Types by facts, numbered as found, then sorted by name and entity.
	if err := t.collect(ctx); err != nil {
		return s, err
	}
	if err := t.sort(ctx); err != nil {
		return s, err
	}
	w, err := tables.CreateTypes(ctx, storage.Join(p.Folder, file))
	if err != nil {
		return s, err
	}
	defer w.Abort()
	// Repeated rows follow each other.
	last, typed := externalsort.Row{-1}, make([]bool, p.Entities)
	err = externalsort.Merge(ctx, externalsort.Rows, t.sorter.Spills, storage.Join(p.Spill, file), func(r externalsort.Row, _ int) error {
		if r == last {
			return nil
		}
		if r[0] != last[0] {
			s.Types++
		}
		if !typed[r[1]] {
			typed[r[1]] = true
			s.Entities++
		}
		last = r
		return w.Write(r[1], t.names[r[0]])
	})
	if err != nil {
		return s, err
	}
	if err := w.Commit(); err != nil {
		return s, err
	}
	return s, storage.RemoveAll(ctx, p.Spill)
}

// typesWriter sorts rows of (rank of the type's name, entity).
type typesWriter struct {
	params   TypesParams
	summary  *counts.Types
	entities string // file of their names
	relation int32  // id of Relation, or -1

	names []string         // of the types, in order
	ranks map[string]int32 // of the names
	tails map[int32]string // names of the entities that are types

	sorter *externalsort.Sorter
}

func (t *typesWriter) collect(ctx context.Context) error {
	if t.params.Each != nil {
		err := t.params.Each(ctx, func(_, name []byte) error {
			if _, known := t.ranks[string(name)]; !known {
				t.ranks[string(name)] = 0
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if t.params.Relation != "" {
		if err := t.collectTails(ctx); err != nil {
			return err
		}
	}
	t.names = slices.Sorted(maps.Keys(t.ranks))
	for rank, name := range t.names {
		t.ranks[name] = int32(rank)
	}
	return nil
}

// collectTails finds the relation, and the names of the entities that its facts lead to.
func (t *typesWriter) collectTails(ctx context.Context) error {
	relations, err := tables.ReadNames(ctx, storage.Join(t.params.Folder, RelationsFile), tables.Relations)
	if err != nil {
		return err
	}
	at, found := slices.BinarySearch(relations, t.params.Relation)
	if !found {
		return remedy.Errorf(remedy.Do("give another %v: closest is %q", remedy.Flag("type_relation"), names.Closest(t.params.Relation, relations, 1)[0]),
			"no training fact has the relation %q of entities and their types", t.params.Relation)
	}
	t.relation = int32(at)
	err = t.eachFact(ctx, func(_, tail int32) error { t.tails[tail] = ""; return nil })
	if err != nil {
		return err
	}
	id := int32(-1)
	return tables.EachName(ctx, storage.Join(t.params.Folder, t.entities), tables.Entities, func(name []byte) error {
		id++
		if _, ok := t.tails[id]; ok {
			t.tails[id] = string(name)
			t.ranks[t.tails[id]] = 0
		}
		return nil
	})
}

// eachFact calls each for the facts of the relation.
func (t *typesWriter) eachFact(ctx context.Context, each func(head, tail int32) error) error {
	for shard := range t.params.EdgeShards {
		file := EdgesFile(shard, t.params.EdgeShards)
		if t.params.Inference {
			file = InferenceEdgesFile(shard, t.params.EdgeShards)
		}
		err := tables.EachEdges(ctx, storage.Join(t.params.Folder, file), func(e tables.Edges) error {
			for i, relation := range e.Relations {
				if relation != t.relation {
					continue
				}
				if err := each(e.Heads[i], e.Tails[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sort writes spill files of all rows.
func (t *typesWriter) sort(ctx context.Context) error {
	t.sorter = externalsort.NewSorter(t.params.BufferBytes, func(file int) string { return storage.Join(t.params.Spill, fmt.Sprintf("types-%05d", file)) })
	defer t.sorter.Close()
	if t.params.Each != nil {
		known, err := ReadIDs(ctx, storage.Join(t.params.Folder, t.entities), tables.Entities, t.params.Entities, "")
		if err != nil {
			return err
		}
		err = t.params.Each(ctx, func(entity, name []byte) error {
			t.summary.Listed++
			id, found := known.Of(entity)
			if !found {
				addUnknown(t.summary, entity)
				return nil
			}
			return t.sorter.Add(ctx, externalsort.Row{t.ranks[string(name)], id})
		})
		if err != nil {
			return err
		}
	}
	if t.relation >= 0 {
		err := t.eachFact(ctx, func(head, tail int32) error { return t.sorter.Add(ctx, externalsort.Row{t.ranks[t.tails[tail]], head}) })
		if err != nil {
			return err
		}
	}
	return t.sorter.Flush(ctx)
}
