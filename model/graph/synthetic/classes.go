package synthetic

import "math"

// classEntities bounds the entities of a graph with hidden classes: nearly all pairs may have facts.
var classEntities = Range{14, 300}

// mostClassFacts bounds the expected number of facts that a graph draws at once: where pairs have several relations, it
// draws up to three times.
const mostClassFacts = 8000

// classified is a graph whose entities have hidden classes. Which relations hold between two entities depends on their
// classes, as with kin, nations and semantic types (Kemp et al., AAAI 2006). Their order matters, too: classes that
// follow each other are alike.
type classified struct {
	*maker
	classes []int     // of the entities
	members [][]int32 // of the classes, which may have none
	drawn   float64   // share of the facts that are drawn
}

// drawClasses draws a graph with hidden classes, and the facts of its base relations, the first ones.
func (m *maker) drawClasses(o Options) (base int) {
	m.size(classEntities, o.Relations)
	c := classified{maker: m, classes: make([]int, m.Entities)}
	c.members = make([][]int32, 2+m.rng.IntN(min(24, m.Entities/3)-1))
	m.types = [][]int32{make([]int32, m.Entities)}
	skew := 1 + m.rng.Float64()
	for x := range int32(m.Entities) {
		class := int(math.Pow(m.rng.Float64(), skew) * float64(len(c.members)))
		c.classes[x], m.types[0][x] = class, x
		c.members[class] = append(c.members[class], x)
	}
	c.drawn = min(.3+.65*m.rng.Float64(), mostClassFacts/float64(m.Entities*m.Entities))
	if m.rng.IntN(2) == 0 {
		c.drawTerms()
		return m.Relations
	}
	base = m.baseRelations()
	for relation := range int32(base) {
		c.drawBetween(relation, mostClassFacts/float64(base))
	}
	return base
}

// drawTerms gives two entities one relation at most, which their classes decide, as kinship terms are given. Most of
// the relations have an inverse, which may be the relation itself.
func (c *classified) drawTerms() {
	inverse := make([]int, c.Relations)
	order := c.rng.Perm(c.Relations)
	for i, r := range order {
		if inverse[r] = r; i%2 == 1 && c.rng.IntN(3) > 0 {
			inverse[r], inverse[order[i-1]] = order[i-1], r
		}
	}
	n := len(c.members)
	terms := make([]int, n*n) // of a head's and a tail's class
	for head := range n {
		for tail := range n {
			terms[head*n+tail] = c.rng.IntN(c.Relations)
			if tail < head && c.rng.Float64() < .8 {
				terms[head*n+tail] = inverse[terms[tail*n+head]]
			}
		}
	}
	wrong := .15 * c.rng.Float64()
	for x, head := range c.classes {
		for y, tail := range c.classes {
			if x == y || c.rng.Float64() >= c.drawn {
				continue
			}
			term := terms[head*n+tail]
			if c.rng.Float64() < wrong {
				term = c.rng.IntN(c.Relations)
			}
			c.add(int32(x), int32(term), int32(y))
		}
	}
}

// drawBetween relates many entities of some classes to many of some others, up to about so many pairs. Some
// relations are symmetric.
func (c *classified) drawBetween(relation int32, most float64) {
	both := c.rng.IntN(5) == 0
	for range 1 + c.rng.IntN(3) {
		heads, tails := c.alike(), c.alike()
		share := min(c.drawn*(.4+.6*c.rng.Float64()), most/float64(1+len(heads)*len(tails)))
		for _, x := range heads {
			for _, y := range tails {
				if x == y || c.rng.Float64() >= share {
					continue
				}
				c.add(x, relation, y)
				if both {
					c.add(y, relation, x)
				}
			}
		}
	}
	if c.out[relation] == nil { // rules start from facts
		c.add(0, relation, 1)
	}
}

// alike returns the entities of some classes that follow each other.
func (c *classified) alike() (entities []int32) {
	from := c.rng.IntN(len(c.members))
	to := from + 1 + c.rng.IntN(1+len(c.members)/4)
	for _, members := range c.members[from:min(to, len(c.members))] {
		entities = append(entities, members...)
	}
	return entities
}
