package kg

import (
	"context"
	"errors"
	"io/fs"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
)

// nameTables are the schemas of the tables of names.
var nameTables = map[string]string{EntitiesFile: tables.Entities, RelationsFile: tables.Relations, InferenceEntitiesFile: tables.Entities}

// NameBytes returns the length of all names. Names may be much longer than their file, which is compressed.
func NameBytes(ctx context.Context, folder string, m manifest.Manifest) (length int64, err error) {
	for _, f := range m.Files {
		schema, ok := nameTables[f.Name]
		if !ok {
			continue
		}
		err := tables.EachName(ctx, storage.Join(folder, f.Name), schema, func(name []byte) error {
			length += int64(len(name))
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return length, nil
}

// HashNames returns the hash of the names of the training graph's entities and of the relations
// of a graph/ folder, given their numbers. It reads the files without holding the names.
func HashNames(ctx context.Context, folder string, entities, relations int64) (string, error) {
	v := manifest.NewVocabulary()
	for _, kind := range []struct {
		file, schema string
		names        int64
	}{{EntitiesFile, tables.Entities, entities}, {RelationsFile, tables.Relations, relations}} {
		v.Begin(kind.names)
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

// CountNames returns the number of names in the tables of names of a graph/ folder that may be incomplete: a missing
// table has none.
func CountNames(ctx context.Context, folder string) (sum int64, err error) {
	for file, schema := range nameTables {
		names, err := tables.CountNames(ctx, storage.Join(folder, file), schema)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		sum += names
	}
	return sum, nil
}
