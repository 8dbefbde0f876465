package discovery

import (
	"math"
	"slices"

	"tagnet/model/graph"
)

// Habits are the relations around the entities of a graph, and which of them go together. They say how likely an entity has
// a relation at all. They may be used concurrently once made.
type Habits struct {
	entities, relations int
	offsets             []int64
	around, degrees     []int32   // by entity, ascending: relations that leave it, and how often
	holders             []float64 // by relation: entities that it leaves
	rows                map[int32]*together
}

// together is how often other relations leave the entities that one relation leaves: what each adds to the log odds of the
// one, by whether it is there. Only pairs that occur are held.
type together struct {
	relations []int32
	present   []float32 // present instead of absent
	base      float64   // all absent
}

// smoothing is the weight, in entities, of a relation's share of all entities in its share of those that have another.
const smoothing = 2

// NewHabits counts the habits of a graph for the relations of queries, in [0, 2R).
func NewHabits(g *graph.Graph, asked []int32) *Habits {
	h := &Habits{entities: g.Entities, relations: g.RelationCount(), offsets: make([]int64, g.Entities+1), rows: map[int32]*together{}}
	h.holders = make([]float64, h.relations)
	counts := make([]int32, h.relations)
	pairs := make(map[int32][]int32, len(asked))
	for _, q := range asked {
		pairs[q] = nil
	}
	for o := range g.Entities {
		begin := len(h.around)
		for _, entering := range g.Relations[g.Offsets[o]:g.Offsets[o+1]] {
			leaving := g.Inverse(entering)
			if counts[leaving]++; counts[leaving] == 1 {
				h.around = append(h.around, leaving)
			}
		}
		own := h.around[begin:]
		slices.Sort(own)
		for _, r := range own {
			h.degrees, counts[r] = append(h.degrees, counts[r]), 0
			h.holders[r]++
		}
		for _, q := range own {
			row, is := pairs[q]
			if !is {
				continue
			}
			if row == nil {
				row = make([]int32, h.relations)
			}
			for _, r := range own {
				row[r]++
			}
			pairs[q] = row
		}
		h.offsets[o+1] = int64(len(h.around))
	}
	for q, row := range pairs {
		h.rows[q] = h.together(q, row)
	}
	return h
}

// together returns what other relations say of one, given how often they leave its entities.
func (h *Habits) together(q int32, counts []int32) *together {
	t := &together{}
	for r := range int32(h.relations) {
		if r == q {
			continue
		}
		count := 0.0
		if counts != nil {
			count = float64(counts[r])
		}
		present, absent := h.evidence(q, r, count)
		t.base += absent
		if count > 0 {
			t.relations, t.present = append(t.relations, r), append(t.present, float32(present-absent))
		}
	}
	return t
}

// evidence returns what relation r adds to the log odds that an entity has relation q, present or absent, where it leaves
// count of the entities of q.
func (h *Habits) evidence(q, r int32, count float64) (present, absent float64) {
	const least = 1e-4
	rate := (h.holders[r] + .5) / float64(h.entities+1)
	with := clip((count+smoothing*rate)/(h.holders[q]+smoothing), least, 1-least)
	without := clip((h.holders[r]-count+smoothing*rate)/(float64(h.entities)-h.holders[q]+smoothing), least, 1-least)
	return math.Log(with / without), math.Log((1 - with) / (1 - without))
}

func clip(x, low, high float64) float64 { return min(max(x, low), high) }

// LogOdds returns what the other relations around an entity add to the log odds that it has an asked relation.
func (h *Habits) LogOdds(entity, q int32) float64 {
	t := h.rows[q]
	sum := t.base
	for _, r := range h.around[h.offsets[entity]:h.offsets[entity+1]] {
		if r == q {
			continue
		}
		if at, found := slices.BinarySearch(t.relations, r); found {
			sum += float64(t.present[at])
			continue
		}
		present, absent := h.evidence(q, r, 0)
		sum += present - absent
	}
	return sum
}

// Degrees returns how many facts of a relation an entity has, and how many of any.
func (h *Habits) Degrees(entity, q int32) (of, all int32) {
	from, to := h.offsets[entity], h.offsets[entity+1]
	for _, n := range h.degrees[from:to] {
		all += n
	}
	if at, found := slices.BinarySearch(h.around[from:to], q); found {
		of = h.degrees[from+int64(at)]
	}
	return of, all
}
