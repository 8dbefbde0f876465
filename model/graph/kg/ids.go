package kg

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
)

// IDs maps names to ids. It does not hold the names, but a hash of 64 bits of each. The hashes of the
// vocabulary all differ. A name that is not in a vocabulary of n names gets a wrong id with
// probability n/2^64.
type IDs struct {
	seed  maphash.Seed
	slots []idSlot
	names int64
}

// idSlot is a name's hash and its id plus 1, or 0 if it is free.
type idSlot struct {
	hash uint64
	id   int32
}

// The largest numbers of names: ids are int32, and half of the relation ids are inverse relations.
const (
	MaxEntities  = math.MaxInt32 - 1
	MaxRelations = math.MaxInt32 / 2
)

// CheckNames returns an error if a file of names with a schema of formats/workspace/tables has more names
// than there are ids.
func CheckNames(schema, url string, names int64) error {
	limit := int64(MaxEntities)
	if schema == tables.Relations {
		limit = MaxRelations
	}
	if names > limit {
		return fmt.Errorf("%s has %d names, the limit is %d: remove facts from the dataset", url, names, limit)
	}
	return nil
}

// errCollision is the error of two names with the same hash. Read then takes another seed.
var errCollision = errors.New("two names have the same hash")

// newMap returns a table for a number of names.
func newMap(names int64) *IDs {
	return &IDs{seed: maphash.MakeSeed(), slots: make([]idSlot, names+names/4+1)}
}

// find returns the slot of a hash, or the free one for it.
func (v *IDs) find(hash uint64) *idSlot {
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
	*s = idSlot{hash, int32(v.names)}
	return nil
}

// Of returns the id of a name, or false if the vocabulary does not have it.
func (v *IDs) Of(name []byte) (int32, bool) {
	s := v.find(maphash.Bytes(v.seed, name))
	return s.id - 1, s.id != 0
}

// Len returns the number of names.
func (v *IDs) Len() int { return int(v.names) }

// ReadIDs reads the ids of a complete file with a number of names. Their hash, as manifest.Vocabulary returns it, has
// to be version, unless that is empty.
func ReadIDs(ctx context.Context, url, schema string, names int64, version string) (*IDs, error) {
	for {
		v, err := read(ctx, url, schema, names, version)
		if !errors.Is(err, errCollision) {
			return v, err
		}
	}
}

// read reads a map of the given number of names. The error says that the file has changed if it has another number or
// version; "" is any version.
func read(ctx context.Context, url, schema string, names int64, version string) (*IDs, error) {
	v, sum := newMap(names), manifest.NewVocabulary()
	changed := fmt.Errorf("%s has changed since it was written: does another run write to the same workspace?", url)
	err := tables.EachName(ctx, url, schema, func(name []byte) error {
		if v.names == names {
			return changed
		}
		sum.Add(name)
		return v.add(name)
	})
	if err != nil {
		return nil, err
	}
	if version != "" && sum.Hex() != version {
		return nil, changed
	}
	return v, nil
}
