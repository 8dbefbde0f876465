package graph

import (
	"context"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/kg"
)

// VocabularyHash returns the hash of the names of the training graph's entities and of the relations
// of a graph/ folder. It reads the files without holding the names.
func VocabularyHash(ctx context.Context, folder string, s Summary) (string, error) {
	v := manifest.NewVocabulary()
	for _, kind := range []struct {
		file, schema string
		names        int64
	}{{kg.EntitiesFile, tables.Entities, s.Entities}, {kg.RelationsFile, tables.Relations, s.Relations}} {
		v.Count(kind.names)
		err := tables.EachName(ctx, storage.Join(folder, kind.file), kind.schema, func(name []byte) error {
			v.Add(name)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return v.Hex(), nil
}
