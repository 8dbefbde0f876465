package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// Range is the bounds of a number that is drawn, least and most included.
type Range struct {
	Least int `json:"least"`
	Most  int `json:"most"`
}

// Options bound what is drawn.
type Options struct {
	Entities  Range `json:"entities"`
	Relations Range `json:"relations"`
	// Degree is the mean number of facts of base relations that an entity is in.
	Degree Range `json:"degree"`
	// Classes is the share of graphs whose entities have hidden classes. These have 14 to 300 entities and thousands of
	// facts, whatever Entities and Degree say.
	Classes float64 `json:"classes,omitempty"`
}

// Default are options for graphs that a step of training takes milliseconds on.
var Default = Options{Entities: Range{200, 3000}, Relations: Range{4, 60}, Degree: Range{2, 10}}

// Check returns an error for bounds that no graph has.
func (o Options) Check() error {
	for name, r := range map[string]struct {
		Range
		least int
	}{"entities": {o.Entities, 2}, "relations": {o.Relations, 1}, "degree": {o.Degree, 1}} {
		if r.Least < r.least || r.Most < r.Least {
			return fmt.Errorf("%s %d to %d: want %d or more, and the least first", name, r.Least, r.Most, r.least)
		}
	}
	if !(o.Classes >= 0 && o.Classes <= 1) {
		return fmt.Errorf("classes is %g: want 0 to 1", o.Classes)
	}
	return nil
}

// Graph is a graph that was made.
type Graph struct {
	Entities, Relations int
	// Facts are the graph's facts, each once, base relations first.
	Facts []graph.Fact
	// Base is the number of facts of base relations.
	Base int
	// HeldOut are facts that follow from rules and are not in the graph.
	HeldOut []graph.Fact
	// Rules are the rules of the derived relations.
	Rules []Rule
}

// Rule says that Head holds between the ends of a walk along the relations of Body, of which those from Relations on
// are inverse ones. Confidence is the share of the walks' ends for which the rule holds.
type Rule struct {
	Head       int32
	Body       []int32
	Confidence float64
}

// New makes the graph of a seed. Equal arguments give equal graphs.
func New(seed uint64, o Options) (*Graph, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("making a graph: %w", err)
	}
	rng := rand.New(rand.NewPCG(parallel.Seed(seed, 1), parallel.Seed(seed, 2)))
	m := &maker{rng: rng, Graph: &Graph{}, known: map[graph.Fact]bool{}}
	draw := m.drawTyped
	if o.Classes > 0 && rng.Float64() < o.Classes {
		draw = m.drawClasses
	}
	base := draw(o)
	m.Base = len(m.Facts)
	for relation := base; relation < m.Relations; relation++ {
		m.derive(int32(relation))
	}
	m.holdOut()
	return m.Graph, nil
}

// drawTyped draws a graph whose entities have types, and the facts of its base relations, the first ones.
func (m *maker) drawTyped(o Options) (base int) {
	m.size(o.Entities, o.Relations)
	m.drawTypes()
	degree := float64(logarithmic(m.rng, o.Degree))
	base = m.baseRelations()
	m.drawBase(base, degree*float64(m.Entities)/2)
	return base
}

// size draws the numbers of entities and relations.
func (m *maker) size(entities, relations Range) {
	m.Entities, m.Relations = logarithmic(m.rng, entities), logarithmic(m.rng, relations)
	m.out = make([]map[int32][]int32, 2*m.Relations)
	m.heads, m.tails = make([]int, 2*m.Relations), make([]int, 2*m.Relations)
}

// baseRelations draws how many relations follow from no rule.
func (m *maker) baseRelations() int {
	return max(1, int(math.Round(float64(m.Relations)*(.4+.3*m.rng.Float64()))))
}

// logarithmic draws a number whose logarithm is uniform.
func logarithmic(rng *rand.Rand, r Range) int {
	x := math.Log(float64(r.Least)) + rng.Float64()*math.Log((float64(r.Most)+1)/float64(r.Least))
	return min(int(math.Exp(x)), r.Most)
}

// maker is a graph while it is made.
type maker struct {
	*Graph
	rng   *rand.Rand
	known map[graph.Fact]bool

	// types have the entities of each type, in an order in which neighbors are alike. heads and tails are the types of
	// the relations, inverse ones included, whose first entities they relate.
	types        [][]int32
	heads, tails []int

	// out has the tails of each head by relation, inverse ones included. A relation without facts has none.
	out []map[int32][]int32
}

// drawTypes divides the entities.
func (m *maker) drawTypes() {
	order := m.rng.Perm(m.Entities)
	count := min(1+m.rng.IntN(6), m.Entities/2)
	from := 0
	for i := range count {
		left := count - i - 1
		to := m.Entities
		if left > 0 {
			to = from + 1 + m.rng.IntN(max(1, 2*(m.Entities-from-left)/(left+1)-1))
			to = min(to, m.Entities-left)
		}
		members := make([]int32, 0, to-from)
		for _, o := range order[from:to] {
			members = append(members, int32(o))
		}
		m.types = append(m.types, members)
		from = to
	}
}

// add adds a fact to the graph, unless it is there.
func (m *maker) add(head, relation, tail int32) {
	f := graph.Fact{Head: head, Relation: relation, Tail: tail}
	if m.known[f] {
		return
	}
	m.known[f] = true
	m.Facts = append(m.Facts, f)
	inverse := relation + int32(m.Relations)
	for r, ends := range map[int32][2]int32{relation: {head, tail}, inverse: {tail, head}} {
		if m.out[r] == nil {
			m.out[r] = map[int32][]int32{}
		}
		m.out[r][ends[0]] = append(m.out[r][ends[0]], ends[1])
	}
}

// setTypes notes the types of a relation and its inverse.
func (m *maker) setTypes(relation int32, heads, tails int) {
	inverse := relation + int32(m.Relations)
	m.heads[relation], m.tails[relation] = heads, tails
	m.heads[inverse], m.tails[inverse] = tails, heads
}

// holdOut takes a tenth of the facts that follow from rules out of the graph.
func (m *maker) holdOut() {
	const share = .1
	kept := m.Facts[:m.Base]
	for _, f := range m.Facts[m.Base:] {
		if m.rng.Float64() < share {
			m.HeldOut = append(m.HeldOut, f)
		} else {
			kept = append(kept, f)
		}
	}
	m.Facts = kept
}
