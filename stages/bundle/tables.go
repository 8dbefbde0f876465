package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/search"
)

// Tables are the distances that the distances pipeline made for a split, over any number of
// files. They serve one goroutine.
type Tables struct {
	readers []*tables.DistanceReader
	hops    int
}

// FindTables returns the folder if it holds complete tables, made from these inputs, and ""
// if there are none. Tables that are damaged, or of another graph, are an error, which names the
// command that makes them.
func FindTables(ctx context.Context, folder string, inputs map[string]string, command string) (string, error) {
	m, err := manifest.Read(ctx, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = manifest.Verify(ctx, folder, m)
	}
	if err == nil && !maps.Equal(m.Inputs, inputs) {
		err = fmt.Errorf("%s was made from another graph than the one that is there now", folder)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s --force makes it anew, or remove the folder", err, command)
	}
	return folder, nil
}

// OpenTables opens every distance table below a folder. Tables over another number of entities
// are an error; tables that were searched less far than hops serve nobody and are left out.
func OpenTables(ctx context.Context, folder string, entities, hops int) (*Tables, error) {
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	t := &Tables{hops: hops}
	for _, url := range urls {
		if !strings.HasSuffix(url, ".arrow") {
			continue
		}
		r, err := tables.OpenDistances(ctx, url)
		if err == nil && r.Entities() != entities {
			err = errors.Join(fmt.Errorf("%s has distances of %d entities, the graph has %d", url, r.Entities(), entities), r.Close())
		}
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		if r.Hops() < hops {
			if err := r.Close(); err != nil {
				return nil, errors.Join(err, t.Close())
			}
			continue
		}
		t.readers = append(t.readers, r)
	}
	return t, nil
}

// Row sets distances to those of a source, up to the hops asked for, or returns false where no
// table has it.
func (t *Tables) Row(source int32, distances []uint8) (bool, error) {
	for _, r := range t.readers {
		found, err := r.Row(source, distances)
		if err != nil {
			return false, err
		}
		if !found {
			continue
		}
		if r.Hops() > t.hops {
			for o, d := range distances {
				if int(d) > t.hops {
					distances[o] = search.Unreached
				}
			}
		}
		return true, nil
	}
	return false, nil
}

// Close closes the tables.
func (t *Tables) Close() error {
	var errs []error
	for _, r := range t.readers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
