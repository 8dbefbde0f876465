package optimizer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"

	"tagnet/model/graph"
	"tagnet/model/random"
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
// or, where the sampler is strict, from those that are neither the answer nor known. known is
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
	s.source.Seed(random.Seed(seed, key), random.Seed(seed, key, 1))
	for i := range negatives {
		negatives[i] = s.allowed(int32(s.random.Uint64N(uint64(allowed))))
	}
	return nil
}

// candidates sets entities to the answer of an example over g and its negatives, given or drawn.
func (s *Sampler) candidates(e Example, g *graph.Graph, seed uint64, entities []int32) error {
	if err := Check(e, g, len(entities)-1); err != nil {
		return err
	}
	entities[0] = e.Answer
	if e.Negatives != nil {
		copy(entities[1:], e.Negatives)
		return nil
	}
	return s.Draw(seed, e.Key, e.Answer, e.Known, entities[1:])
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
