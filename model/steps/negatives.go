package steps

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"tagnet/model/parallel"
)

// ErrNoNegatives reports a query of which every entity is a known answer.
var ErrNoNegatives = errors.New("every entity is a known answer, none is left as a negative")

// Sampler draws negatives among a graph's entities. It keeps its buffers, so a draw allocates
// nothing; it is not safe for concurrent use.
type Sampler struct {
	entities int
	strict   bool
	source   *rand.PCG
	random   *rand.Rand
	excluded []int32
}

// NewSampler returns a sampler over entities 0..entities-1. A strict one never draws a known answer.
func NewSampler(entities int, strict bool) *Sampler {
	source := rand.NewPCG(0, 0)
	return &Sampler{entities: entities, strict: strict, source: source, random: rand.New(source)}
}

// Draw fills negatives with entities drawn uniformly and with replacement: from all entities,
// or, if the sampler is strict, from entities other than the answer and the known answers. known is
// in ascending order and may or may not hold the answer. The error wraps ErrNoNegatives where
// no entity is left.
func (s *Sampler) Draw(seed, key uint64, answer int32, known []int32, negatives []int32) error {
	s.excluded = s.excluded[:0]
	if s.strict {
		s.exclude(answer, known)
	}
	allowed := s.entities - len(s.excluded)
	if allowed <= 0 && len(negatives) > 0 {
		return fmt.Errorf("drawing negatives among %d entities beside answer %d: %w", s.entities, answer, ErrNoNegatives)
	}
	s.source.Seed(parallel.Seed(seed, key), parallel.Seed(seed, key, 1))
	for i := range negatives {
		negatives[i] = s.allowed(int32(s.random.Uint64N(uint64(allowed))))
	}
	return nil
}

// DrawAmong draws negatives from some entities, in ascending order, instead of from all. If all of these are known
// answers, it draws from all entities.
func (s *Sampler) DrawAmong(among []int32, seed, key uint64, answer int32, known []int32, negatives []int32) error {
	s.excluded = s.excluded[:0]
	if s.strict {
		s.exclude(answer, known)
		s.excluded = positions(s.excluded, among)
	}
	allowed := len(among) - len(s.excluded)
	if allowed == 0 {
		return s.Draw(seed, key, answer, known, negatives)
	}
	s.source.Seed(parallel.Seed(seed, key), parallel.Seed(seed, key, 1))
	for i := range negatives {
		negatives[i] = among[s.allowed(int32(s.random.Uint64N(uint64(allowed))))]
	}
	return nil
}

// positions replaces ascending entities by their positions in among, without entities that are not in it.
func positions(entities, among []int32) []int32 {
	kept := entities[:0]
	for _, entity := range entities {
		if at, found := slices.BinarySearch(among, entity); found {
			kept = append(kept, int32(at))
		}
	}
	return kept
}

// Saturated reports whether a strict sampler has no negatives for an example: every entity is a known
// answer or the answer.
func (s *Sampler) Saturated(e Example) bool {
	if !s.strict || e.Negatives != nil || len(e.Known)+1 < s.entities {
		return false
	}
	s.excluded = s.excluded[:0]
	s.exclude(e.Answer, e.Known)
	return len(s.excluded) >= s.entities
}

// LeftOut reports whether a step leaves an example of one answer out: its negatives are drawn among the entities
// that its query propagates through, and its answer is not one of them. It would teach nothing about these
// entities; in large graphs, with many such examples and few negatives out of reach, it would teach that entities
// out of reach are answers.
func LeftOut(e Example, among []int32) bool {
	_, inside := slices.BinarySearch(among, e.Answer)
	return !inside
}

// Negatives sets negatives to those of an example of one answer, given or drawn: a share of them among some entities.
func (s *Sampler) Negatives(e Example, share float64, among []int32, seed uint64, negatives []int32) error {
	if e.Negatives != nil {
		copy(negatives, e.Negatives)
		return nil
	}
	if err := s.Draw(seed, e.Key, e.Answer, e.Known, negatives); err != nil || share == 0 {
		return err
	}
	n := int(math.Round(share * float64(len(negatives))))
	return s.DrawAmong(among, seed, e.Key, e.Answer, e.Known, negatives[:n])
}

// exclude sets excluded to the known answers and the answer, ascending, without duplicates.
func (s *Sampler) exclude(answer int32, known []int32) {
	add := func(entity int32) {
		if n := len(s.excluded); n == 0 || s.excluded[n-1] != entity {
			s.excluded = append(s.excluded, entity)
		}
	}
	pending := true
	for _, entity := range known {
		if pending && answer <= entity {
			add(answer)
			pending = false
		}
		add(entity)
	}
	if pending {
		add(answer)
	}
}

// allowed returns the entity with exactly rank allowed entities before it.
func (s *Sampler) allowed(rank int32) int32 {
	// excluded[i] has excluded[i]-i allowed entities before it, which grows with i.
	before := sort.Search(len(s.excluded), func(i int) bool { return s.excluded[i]-int32(i) > rank })
	return rank + int32(before)
}
