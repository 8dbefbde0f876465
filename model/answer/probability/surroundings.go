package probability

import (
	"maps"
	"math"
	"slices"

	"tagnet/model/answer/rules"
	"tagnet/model/graph"
)

// Surroundings are the relations around the entities of a graph, and which of them go together. They describe every
// fact as if the graph did not have it. They may be used concurrently once made.
//
// Memory: 8 bytes for each relation of each entity, 16 for each pair of relations that leave a common entity. Where
// these pairs may be more than pairsPerEdge for each edge, those of relations that leave few entities are not held, and
// are counted where they are needed: 4 bytes more for each relation of each entity.
type Surroundings struct {
	graph         *graph.Graph
	offsets       []int64
	around, facts []int32 // by entity, ascending: relations that leave it, and how often
	// By relation: the numbers of entities that it leaves, of entities that it leaves once, and of its edges.
	holders, single, edges []int32
	rows                   []together
	// Pairs of two relations are held if both leave at least many entities. If many is 0, all pairs are held; otherwise
	// entities lists, by relation, the entities that it leaves.
	many     int32
	entities [][]int32
	// functional has the nearly functional directions, mirrors, by relation, what implies its facts.
	functional []bool
	mirrors    map[int32][]rules.Mirror
}

// pairsPerEdge bounds the pairs that are held, as the estimate of package budget does: an entity of 20,000 relations
// has 400 million.
const pairsPerEdge = 8

// together counts how often other relations leave the entities that one relation leaves. It holds only pairs that
// occur, of two relations that both leave many entities.
type together struct {
	relations, both []int32
	// shift has the difference in log odds of each one, present instead of absent.
	shift []float64
	// absent is the log odds that the other relations add to this one where all of them are absent, absentLess the same
	// with one entity less of this relation.
	absent, absentLess float64
}

// smoothing is the weight, in entities, of a relation's share of all entities in its share of those that have another.
const smoothing = 2

// NewSurroundings counts the relations of the graph of all facts, which stays in use.
func NewSurroundings(g *graph.Graph) *Surroundings { return newSurroundings(g, pairsPerEdge*g.Edges()) }

// newSurroundings holds at most a number of pairs of relations.
func newSurroundings(g *graph.Graph, mostPairs int64) *Surroundings {
	n := g.RelationCount()
	s := &Surroundings{graph: g, offsets: make([]int64, g.Entities+1), holders: make([]int32, n), single: make([]int32, n), edges: make([]int32, n),
		functional: rules.Functional(g), mirrors: map[int32][]rules.Mirror{}}
	for _, m := range rules.Mirrors(g) {
		s.mirrors[m.Relation] = append(s.mirrors[m.Relation], m)
	}
	counts := make([]int32, n)
	for o := range g.Entities {
		begin := len(s.around)
		_, entering := g.In(int32(o))
		for _, r := range entering {
			leaving := g.Inverse(r)
			if counts[leaving]++; counts[leaving] == 1 {
				s.around = append(s.around, leaving)
			}
		}
		leavingRelations := s.around[begin:]
		slices.Sort(leavingRelations)
		for _, r := range leavingRelations {
			s.facts = append(s.facts, counts[r])
			s.holders[r]++
			s.edges[r] += counts[r]
			if counts[r] == 1 {
				s.single[r]++
			}
			counts[r] = 0
		}
		s.offsets[o+1] = int64(len(s.around))
	}
	s.entities = s.byRelation()
	if n, most := len(s.holders), int(math.Sqrt(float64(mostPairs))); n > most {
		s.many = slices.Sorted(slices.Values(s.holders))[n-1-most] + 1
	}
	s.pair()
	if s.many == 0 {
		s.entities = nil // all pairs are held
	}
	return s
}

// pair fills rows.
func (s *Surroundings) pair() {
	n := len(s.holders)
	s.rows = make([]together, n)
	absentAll, counts := s.absentOfAll(), make([]int32, n)
	var met []int32
	for q := range int32(n) {
		t := &s.rows[q]
		// Count, by relation, the entities that both leave.
		met = met[:0]
		held := 0
		for _, o := range s.entities[q] {
			for _, r := range s.relations(o) {
				if counts[r]++; counts[r] == 1 && r != q {
					if met = append(met, r); s.holds(q, r) {
						held++
					}
				}
			}
		}
		slices.Sort(met)
		t.relations, t.both, t.shift = make([]int32, 0, held), make([]int32, 0, held), make([]float64, 0, held)
		holders := s.holders[q]
		// Most relations leave no entity with this one, and what they add follows from how many they leave.
		t.absent = absentAll(holders) - s.evidence(holders, holders, 0).absent
		if holders > 0 {
			t.absentLess = absentAll(holders-1) - s.evidence(holders-1, holders, 0).absent
		}
		// Relations that leave an entity with this one replace their share of these sums. Those of one
		// entity are often alike.
		var change changes
		for i, r := range met {
			if i == 0 || s.holders[r] != s.holders[met[i-1]] || counts[r] != change.both {
				change = s.changes(holders, s.holders[r], counts[r])
			}
			t.absent += change.absent
			t.absentLess += change.absentLess
			if s.holds(q, r) {
				t.relations, t.both, t.shift = append(t.relations, r), append(t.both, counts[r]), append(t.shift, change.shift)
			}
			counts[r] = 0
		}
		counts[q] = 0
	}
}

// holds reports whether the pair of two relations, if it occurs, is held.
func (s *Surroundings) holds(q, r int32) bool { return min(s.holders[q], s.holders[r]) >= s.many }

// changes holds what one relation adds to the sums of another relation's row. both is the number of
// entities that both leave.
type changes struct {
	both                      int32
	absent, absentLess, shift float64
}

// changes returns the changes of the row of a relation that leaves q entities by one that leaves r, if they leave both
// entities in common.
func (s *Surroundings) changes(q, r, both int32) changes {
	v := s.evidence(q, r, both)
	return changes{
		both: both, absent: v.absent - s.evidence(q, r, 0).absent, shift: v.present - v.absent,
		absentLess: s.evidence(q-1, r, both).absent - s.evidence(q-1, r, 0).absent,
	}
}

// absentOfAll returns what all relations together add to the log odds of one that leaves a number of entities
// (holders), where none leaves an entity with it. It counts relations that leave equally many entities, so that all
// pairs of many thousand relations take no time.
func (s *Surroundings) absentOfAll() func(holders int32) float64 {
	times, sums := map[int32]int{}, map[int32]float64{}
	for _, holders := range s.holders {
		times[holders]++
	}
	distinct := slices.Sorted(maps.Keys(times))
	return func(holders int32) float64 {
		sum, known := sums[holders]
		if !known {
			for _, other := range distinct {
				sum += float64(times[other]) * s.evidence(holders, other, 0).absent
			}
			sums[holders] = sum
		}
		return sum
	}
}

// byRelation returns the entities that each relation leaves.
func (s *Surroundings) byRelation() [][]int32 {
	entities := make([][]int32, len(s.holders))
	for r, n := range s.holders {
		entities[r] = make([]int32, 0, n)
	}
	for o := range int32(s.graph.Entities) {
		for _, r := range s.relations(o) {
			entities[r] = append(entities[r], o)
		}
	}
	return entities
}

// hasAnswer reports whether the graph knows an answer to a query.
func (s *Surroundings) hasAnswer(source, relation int32) bool { return s.count(source, relation) > 0 }

// mirror returns the highest probability of a fact by a mirror that is stated, in the graph without the fact, or 0.
// missing is the share of its relation's facts that is missing. Where that is guessed, p is the mirror's confidence.
func (s *Surroundings) mirror(f graph.Fact, missing float64, guessed bool) (p float64) {
	for _, m := range s.mirrors[f.Relation] {
		if !s.graph.Has(f.Tail, m.Other, f.Head) {
			continue
		}
		if s.graph.Has(f.Head, f.Relation, f.Tail) {
			m = m.Without()
		}
		switch confidence := m.Confidence(); {
		case guessed || confidence == 0:
			p = max(p, confidence)
		default:
			p = max(p, m.TrueIfMissing(missing))
		}
	}
	return p
}

// Queries returns the number of queries to which the graph knows an answer.
func (s *Surroundings) Queries() (n int64) {
	for _, holders := range s.holders {
		n += int64(holders)
	}
	return n
}

// relations returns the relations that leave an entity, ascending.
func (s *Surroundings) relations(entity int32) []int32 {
	return s.around[s.offsets[entity]:s.offsets[entity+1]]
}

// count returns how many edges of a relation leave an entity.
func (s *Surroundings) count(entity, relation int32) int32 {
	at, found := slices.BinarySearch(s.relations(entity), relation)
	if !found {
		return 0
	}
	return s.facts[s.offsets[entity]+int64(at)]
}

// evidence is what a relation adds to the log odds that an entity has another one, where it is present or absent.
type evidence struct{ present, absent float64 }

// evidence returns the evidence of a relation that leaves r entities for a relation that leaves q; both leave a number
// of entities, both.
func (s *Surroundings) evidence(q, r, both int32) evidence {
	const least = 1e-4
	entities := float64(s.graph.Entities)
	rate := (float64(r) + .5) / (entities + 1)
	share := func(has int32, entities float64) float64 {
		return min(max((float64(has)+smoothing*rate)/(entities+smoothing), least), 1-least)
	}
	with, without := share(both, float64(q)), share(r-both, entities-float64(q))
	return evidence{math.Log(with / without), math.Log((1 - with) / (1 - without))}
}

// end is an entity of a fact, seen as the source of its query for the other one, in the graph without the fact.
type end struct {
	*Surroundings
	entity, other     int32
	relation, inverse int32
	// stated is set if the graph has the fact, lost if the fact is the only edge of relation that leaves entity, and
	// lostInverse if its inverse is the only such edge that leaves other.
	stated, lost, lostInverse bool
}

// end returns the head's end, or with the inverse relation the tail's.
func (s *Surroundings) end(entity, relation, other int32) end {
	e := end{Surroundings: s, entity: entity, other: other, relation: relation, inverse: s.graph.Inverse(relation)}
	if e.stated = s.graph.Has(entity, relation, other); e.stated {
		e.lost = s.count(entity, relation) == 1
		e.lostInverse = s.count(other, e.inverse) == 1
	}
	return e
}

// answers returns the number of other answers of the end's query.
func (e *end) answers() int32 {
	n := e.count(e.entity, e.relation)
	if e.stated {
		n--
	}
	return n
}

// degree returns the number of edges that leave the entity.
func (e *end) degree() int {
	degree := e.graph.Degree(e.entity)
	switch {
	case e.stated && e.entity == e.other:
		return degree - 2
	case e.stated:
		return degree - 1
	}
	return degree
}

// usual returns the logarithm of the share of the relation's edges which have other answers if the fact has, or have
// none if the fact has none. It counts the fact like every other one: without it, a share of a few edges would tell
// facts of the graph from others.
func (e *end) usual() float64 {
	edges, like := e.edges[e.relation], e.single[e.relation]
	if e.answers() > 0 {
		like = edges - like
	}
	return math.Log((float64(like) + 1) / (float64(edges) + 2))
}

// habit returns what the other relations around the entity add to the log odds that it has the relation (naive Bayes).
func (e *end) habit() float64 {
	row := &e.rows[e.relation]
	holders, sum := e.holders[e.relation], row.absent
	if e.lost {
		holders, sum = holders-1, row.absentLess
	}
	// add replaces what sum has of a relation: absence, counted with the fact.
	add := func(r int32, present bool) {
		before := e.common(e.relation, r)
		now := e.both(r, before)
		entities := e.holders[r]
		if e.lostInverse && r == e.inverse {
			entities--
		}
		v := e.evidence(holders, entities, now)
		if sum -= e.evidence(holders, e.holders[r], before).absent; present {
			sum += v.present
		} else {
			sum += v.absent
		}
	}
	for _, r := range e.relations(e.entity) {
		at, known := slices.BinarySearch(row.relations, r)
		switch {
		case r == e.relation || r == e.inverse:
		case known && !e.lost:
			sum += row.shift[at]
		default:
			add(r, true)
		}
	}
	// The inverse has lost an edge, too, which may have left this entity: the fact may be a loop.
	n := e.count(e.entity, e.inverse)
	if e.stated && e.entity == e.other {
		n--
	}
	add(e.inverse, n > 0)
	return sum
}

// both returns the number of entities that the end's relation and another one leave, n with the fact.
func (e *end) both(r, n int32) int32 {
	has := func(entity, relation int32) bool { return e.count(entity, relation) > 0 }
	if r != e.inverse {
		if e.lost && has(e.entity, r) {
			n--
		}
		return n
	}
	loop := e.entity == e.other
	if has(e.entity, r) && (e.lost || loop && e.lostInverse) {
		n--
	}
	if !loop && e.lostInverse && has(e.other, e.relation) {
		n--
	}
	return n
}

// common returns the number of entities that two relations leave.
func (s *Surroundings) common(q, r int32) (n int32) {
	if s.holds(q, r) {
		t := &s.rows[q]
		if at, found := slices.BinarySearch(t.relations, r); found {
			n = t.both[at]
		}
		return n
	}
	if s.holders[q] > s.holders[r] {
		q, r = r, q
	}
	for _, o := range s.entities[q] {
		if s.count(o, r) > 0 {
			n++
		}
	}
	return n
}
