package split

import (
	"bufio"
	"cmp"
	"context"
	"hash/fnv"
	"slices"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/parallel"
)

// The sides, in the order of shares and files.
const (
	train = iota
	valid
	test
	sides
)

// Params are the parameters of Divide.
type Params struct {
	// From is a text of numbered lines, as triples.WriteNumbered writes it; To takes the training, validation and test
	// facts, with the same numbers.
	From triples.Chunk
	To   [3]string
	// Shares are the parts of training, validation and test, in any unit.
	Shares [3]float64
	// Seed draws the sides.
	Seed int64
	// Kept is a relation whose facts all belong to training, with those of near relations about the same two
	// entities, or empty.
	Kept string
}

// maxPairs bounds the pairs that a summary lists.
const maxPairs = 100

// maxNames bounds the relations without a test fact that a summary names.
const maxNames = 10

// fact is a fact by hashes.
type fact struct {
	relation         int32
	head, tail, pair uint64
	backwards        bool // from the greater name to the lesser one
}

// divider reads the facts three times.
type divider struct {
	p        Params
	ids      map[string]int32 // of relations
	names    []string
	hashes   []uint64 // of the relations' names, or of their cluster's
	clusters []int32
	limits   [2]uint64           // of the groups' hashes
	kept     map[uint64]struct{} // the groups with a fact of the relation that is kept
}

// Divide divides a text. An error says if the validation or the test facts would be none.
func Divide(ctx context.Context, p Params) (counts.Division, error) {
	d := &divider{p: p, ids: map[string]int32{}}
	var s counts.Division
	if err := d.compare(ctx, &s); err != nil {
		return s, err
	}
	if err := d.keep(ctx); err != nil {
		return s, err
	}
	moved, seen, err := d.draw(ctx)
	if err != nil {
		return s, err
	}
	if err := d.write(ctx, &s, moved, seen); err != nil {
		return s, err
	}
	if s.Facts[valid] == 0 || s.Facts[test] == 0 {
		divisible, err := d.divisible(ctx)
		if err != nil {
			return s, err
		}
		if !divisible {
			return s, remedy.Errorf(remedy.Do("leave %v out", remedy.Flag("split")),
				"%s: no fact can be held out: each has a name that no other fact has", p.From.File())
		}
		return s, remedy.Errorf(remedy.Do("give it more facts, other shares or another %v", remedy.Flag("seed")),
			"%s: the split leaves %d validation and %d test facts of %d, %d of them moved to training because no other fact has one of their names",
			p.From.File(), s.Facts[valid], s.Facts[test], s.Facts[train]+s.Facts[valid]+s.Facts[test], s.Moved)
	}
	return s, nil
}

// divisible reports whether some fact's names are all in other groups, too. Without one, no shares and no
// seed hold a fact out.
func (d *divider) divisible(ctx context.Context) (bool, error) {
	entities, relations := map[uint64]groups{}, make([]groups, len(d.names))
	err := d.each(ctx, func(f fact, _ triples.Triple, _ int) error {
		group := d.group(f)
		entities[f.head] = entities[f.head].with(group)
		entities[f.tail] = entities[f.tail].with(group)
		relations[f.relation] = relations[f.relation].with(group)
		return nil
	})
	found := false
	if err == nil {
		err = d.each(ctx, func(f fact, _ triples.Triple, _ int) error {
			found = found || entities[f.head].several && entities[f.tail].several && relations[f.relation].several
			return nil
		})
	}
	return found, err
}

// groups are the groups of the facts with a name: the first one, and whether there are several.
type groups struct {
	first        uint64
	any, several bool
}

func (g groups) with(group uint64) groups {
	if !g.any {
		return groups{first: group, any: true}
	}
	g.several = g.several || group != g.first
	return g
}

func (d *divider) each(ctx context.Context, each func(f fact, t triples.Triple, line int) error) error {
	return d.p.From.Read(ctx, func(line int, t triples.Triple) error {
		id, known := d.ids[string(t.Relation)]
		if !known {
			id = int32(len(d.names))
			d.ids[string(t.Relation)] = id
			d.names = append(d.names, string(t.Relation))
		}
		f := fact{relation: id, head: hash(t.Head), tail: hash(t.Tail), backwards: string(t.Head) > string(t.Tail)}
		f.pair = parallel.Seed(min(f.head, f.tail), max(f.head, f.tail))
		return each(f, t, line)
	}, nil)
}

// hash is the same in every process.
func hash(name []byte) uint64 {
	h := fnv.New64a()
	h.Write(name)
	return parallel.Mix(h.Sum64())
}

// compare finds the relations that give away each other's facts.
func (d *divider) compare(ctx context.Context, s *counts.Division) error {
	sample := newSample()
	if err := d.each(ctx, func(f fact, _ triples.Triple, _ int) error { sample.add(f); return nil }); err != nil {
		return err
	}
	pairs := sample.nearPairs()
	d.clusters = clusters(len(d.names), pairs)
	inverse, same := map[int32]bool{}, map[int32]bool{}
	for _, p := range pairs {
		names := []string{d.names[p.a], d.names[p.b]}
		slices.Sort(names)
		s.Pairs = append(s.Pairs, counts.Pair{Relation: names[0], Other: names[1], Inverse: p.inverse, Share: p.share})
		paired := same
		if p.inverse {
			paired = inverse
		}
		paired[p.a], paired[p.b] = true, true
	}
	slices.SortStableFunc(s.Pairs, func(a, b counts.Pair) int {
		return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Other, b.Other))
	})
	s.Pairs = s.Pairs[:min(len(s.Pairs), maxPairs)]
	s.NearInverse, s.NearSame, s.Sampled = len(inverse), len(same), !sample.whole()

	// The number of a cluster depends on the order of lines, the least name in it does not.
	least := map[int32]string{}
	for id, cluster := range d.clusters {
		if name, known := least[cluster]; cluster >= 0 && (!known || d.names[id] < name) {
			least[cluster] = d.names[id]
		}
	}
	for id, name := range d.names {
		if cluster := d.clusters[id]; cluster >= 0 {
			name = least[cluster]
		}
		d.hashes = append(d.hashes, hash([]byte(name)))
	}
	// A hash below a limit belongs to its side.
	sum := d.p.Shares[train] + d.p.Shares[valid] + d.p.Shares[test]
	const whole = 1 << 63
	d.limits[train] = uint64(whole * (d.p.Shares[train] / sum))
	d.limits[valid] = uint64(whole * ((d.p.Shares[train] + d.p.Shares[valid]) / sum))
	return nil
}

// group returns the hash of a fact's group, which decides its side.
func (d *divider) group(f fact) uint64 {
	if d.clusters[f.relation] >= 0 {
		return parallel.Seed(uint64(d.p.Seed), 2, d.hashes[f.relation], f.pair)
	}
	return parallel.Seed(uint64(d.p.Seed), 1, d.hashes[f.relation], f.head, f.tail)
}

// keep finds the groups of the facts of the relation that is kept, which have more than one where other relations are
// near to it.
func (d *divider) keep(ctx context.Context) error {
	id, known := d.ids[d.p.Kept]
	if !known {
		return nil
	}
	d.kept = map[uint64]struct{}{}
	return d.each(ctx, func(f fact, _ triples.Triple, _ int) error {
		if f.relation == id {
			d.kept[d.group(f)] = struct{}{}
		}
		return nil
	})
}

// sideOf returns the side that a fact's group is drawn for, or training if the group has a fact that is kept.
func (d *divider) sideOf(group uint64) int {
	_, kept := d.kept[group]
	switch group >>= 1; {
	case kept || group < d.limits[train]:
		return train
	case group < d.limits[valid]:
		return valid
	}
	return test
}

// draw finds the entities of the facts that are drawn for training, and the other groups of relations that are in
// none of them.
func (d *divider) draw(ctx context.Context) (moved, seen map[uint64]struct{}, err error) {
	seen = map[uint64]struct{}{}
	trained, waiting := make([]bool, len(d.names)), make([][]uint64, len(d.names))
	err = d.each(ctx, func(f fact, _ triples.Triple, _ int) error {
		group := d.group(f)
		switch {
		case d.sideOf(group) == train:
			seen[f.head], seen[f.tail] = struct{}{}, struct{}{}
			trained[f.relation], waiting[f.relation] = true, nil
		case !trained[f.relation]:
			waiting[f.relation] = append(waiting[f.relation], group)
		}
		return nil
	})
	moved = map[uint64]struct{}{}
	for _, groups := range waiting {
		for _, group := range groups {
			moved[group] = struct{}{}
		}
	}
	return moved, seen, err
}

func (d *divider) write(ctx context.Context, s *counts.Division, moved, seen map[uint64]struct{}) error {
	var files [sides]storage.Writer
	var texts [sides]*bufio.Writer
	for side, url := range d.p.To {
		file, err := storage.Create(ctx, url)
		if err != nil {
			return err
		}
		defer file.Abort()
		files[side], texts[side] = file, bufio.NewWriterSize(file, 1<<16)
	}
	tested := make([]bool, len(d.names))
	err := d.each(ctx, func(f fact, t triples.Triple, line int) error {
		group := d.group(f)
		// A fact leaves training only if training has both of its entities, and its group was not moved.
		side := d.sideOf(group)
		if side != train {
			_, head := seen[f.head]
			_, tail := seen[f.tail]
			_, whole := moved[group]
			if !head || !tail || whole {
				side = train
				s.Moved++
			}
		}
		s.Facts[side]++
		tested[f.relation] = tested[f.relation] || side == test
		return triples.WriteNumbered(texts[side], t, line)
	})
	if err != nil {
		return err
	}
	// Relations without a test fact, for the report. That of one that is kept was asked for.
	for id, tested := range tested {
		if !tested && d.names[id] != d.p.Kept {
			s.Untested++
			s.UntestedNames = append(s.UntestedNames, d.names[id])
		}
	}
	slices.Sort(s.UntestedNames)
	s.UntestedNames = s.UntestedNames[:min(len(s.UntestedNames), maxNames)]
	for side := range files {
		if err := texts[side].Flush(); err != nil {
			return err
		}
		if err := files[side].Commit(); err != nil {
			return err
		}
	}
	return nil
}
