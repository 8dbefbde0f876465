package vocabulary

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"math"
	"math/bits"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/kg"
	"tagnet/stages/worker"
)

// IDs maps names to ids. It does not hold the names, but a hash of 64 bits of each. The hashes of the
// vocabulary all differ. A name that is not in a vocabulary of n names gets a wrong id with
// probability n/2^64.
type IDs struct {
	seed  maphash.Seed
	slots []slot
	names int64
}

// slot is a name's hash and its id plus 1, or 0 if it is free.
type slot struct {
	hash uint64
	id   int32
}

// The largest numbers of names: ids are int32, and half of the relation ids are inverse relations.
const (
	MaxEntities  = math.MaxInt32 - 1
	MaxRelations = math.MaxInt32 / 2
)

// checkCount returns an error if a file has more names than there are ids.
func checkCount(file, url string, names int64) error {
	limit := int64(MaxEntities)
	if file == kg.RelationsFile {
		limit = MaxRelations
	}
	if names > limit {
		return fmt.Errorf("%s has %d names, the limit is %d: remove facts from the dataset", url, names, limit)
	}
	return nil
}

// errCollision is the error of two names with the same hash. Load then takes another seed.
var errCollision = errors.New("two names have the same hash")

// newIDs returns a table for so many names.
func newIDs(names int64) *IDs {
	return &IDs{seed: maphash.MakeSeed(), slots: make([]slot, names+names/4+1)}
}

// find returns the slot of a hash, or the free slot for it.
func (v *IDs) find(hash uint64) *slot {
	i, _ := bits.Mul64(hash, uint64(len(v.slots)))
	for {
		s := &v.slots[i]
		if s.id == 0 || s.hash == hash {
			return s
		}
		if i++; i == uint64(len(v.slots)) {
			i = 0
		}
	}
}

// add assigns the next id to a name.
func (v *IDs) add(name []byte) error {
	hash := maphash.Bytes(v.seed, name)
	s := v.find(hash)
	if s.id != 0 {
		return errCollision
	}
	v.names++
	*s = slot{hash, int32(v.names)}
	return nil
}

// Of returns the id of a name, or false if the vocabulary does not have it.
func (v *IDs) Of(name []byte) (int32, bool) {
	s := v.find(maphash.Bytes(v.seed, name))
	return s.id - 1, s.id != 0
}

// Len returns the number of names.
func (v *IDs) Len() int { return int(v.names) }

// cached is the kind of the ids in the process's cache.
const cached = "vocabulary"

// Load returns the ids of a vocabulary file. It reads each file once per process.
func Load(ctx context.Context, w Written) (*IDs, error) {
	return worker.Load(worker.Key{Kind: cached, URL: w.URL}, w.Version, func() (*IDs, error) {
		v, err := read(ctx, w)
		for errors.Is(err, errCollision) {
			v, err = read(ctx, w)
		}
		return v, err
	})
}

func read(ctx context.Context, w Written) (*IDs, error) {
	v, sum, names := newIDs(w.Names), manifest.NewVocabulary(), int64(0)
	changed := fmt.Errorf("%s has changed since it was written: does another run write to the same workspace?", w.URL)
	err := tables.EachName(ctx, w.URL, schemaOf(w.File), func(name []byte) error {
		if names++; names > w.Names {
			return changed
		}
		sum.Add(name)
		return v.add(name)
	})
	if err != nil {
		return nil, err
	}
	if sum.Hex() != w.Version {
		return nil, changed
	}
	return v, nil
}

// Open reads the ids of a complete vocabulary file of so many names, without the cache and the check of Load.
func Open(ctx context.Context, url, file string, names int64) (*IDs, error) {
	for {
		v := newIDs(names)
		err := tables.EachName(ctx, url, schemaOf(file), v.add)
		if !errors.Is(err, errCollision) {
			return v, err
		}
	}
}

// CountNames returns how many names the vocabulary files of a folder have that are written so far.
func CountNames(ctx context.Context, folder string) (int64, error) {
	names := int64(0)
	for _, file := range []string{kg.EntitiesFile, kg.InferenceEntitiesFile, kg.RelationsFile} {
		err := tables.EachName(ctx, storage.Join(folder, file), schemaOf(file), func([]byte) error {
			names++
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return names, nil
}

// Forget drops the ids that Load has read.
func Forget() { worker.Forget(cached) }
