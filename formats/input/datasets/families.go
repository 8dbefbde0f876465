package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// The size of the sample's country.
const (
	regions, districtsPerRegion, villagesPerDistrict = 4, 3, 3
	founders                                         = 34 // couples without parents
)

// country makes up three generations of people in the villages of a country, and returns
// the facts from which the rules conclude all others.
//
// Two choices keep the rules exact: nobody marries a sibling, and all children of a couple
// are children of both.
func country(random *rand.Rand) []Fact {
	c := &builder{random: random, taken: map[string]bool{}}
	villages := c.places()
	couples := make([]couple, founders)
	for i := range couples {
		family := surnames[i%len(surnames)]
		couples[i] = couple{c.person(family), c.person(surnames[random.IntN(len(surnames))]), family}
		c.marry(couples[i], villages)
	}
	children := c.children(couples, 2, 4)
	couples = c.match(children)
	for _, pair := range couples {
		c.marry(pair, villages)
	}
	c.settleSingles(children, couples, villages)
	c.settle(namesOf(c.children(couples, 1, 4)), villages)
	return c.facts
}

// couple is two people and the name that their children bear.
type couple struct{ one, other, family string }

// child is a person who knows their parents, and the name they pass on.
type child struct {
	name, family string
	parents      int
}

type builder struct {
	random *rand.Rand
	taken  map[string]bool
	facts  []Fact
}

func (c *builder) fact(head, relation, tail string) {
	c.facts = append(c.facts, Fact{head, relation, tail})
}

// person returns a name that nobody has yet.
func (c *builder) person(family string) string {
	for tries := 1; ; tries++ {
		name := firstNames[c.random.IntN(len(firstNames))] + " " + family
		if tries > 8 {
			name = fmt.Sprintf("%s %c. %s", firstNames[c.random.IntN(len(firstNames))], 'A'+rune(c.random.IntN(26)), family)
		}
		if !c.taken[name] {
			c.taken[name] = true
			return name
		}
	}
}

// places lays out villages in districts in regions, and roads between villages; it returns
// the villages.
func (c *builder) places() []string {
	var villages []string
	for r := range regions {
		region := regionNames[r]
		for d := range districtsPerRegion {
			district := districtNames[r*districtsPerRegion+d]
			c.fact(district, "located_in", region)
			for range villagesPerDistrict {
				village := villageNames[len(villages)]
				c.fact(village, "located_in", district)
				villages = append(villages, village)
			}
		}
	}
	for i, village := range villages {
		c.fact(village, "borders", villages[(i+1)%len(villages)])
		c.fact(village, "borders", villages[(i+7)%len(villages)])
	}
	return villages
}

// marry joins two people and gives them a village to live in.
func (c *builder) marry(pair couple, villages []string) {
	c.fact(pair.one, "spouse_of", pair.other)
	c.settle([]string{pair.one}, villages)
}

// settle gives each person a village to live in.
func (c *builder) settle(people, villages []string) {
	for _, person := range people {
		c.fact(person, "lives_in", villages[c.random.IntN(len(villages))])
	}
}

// settleSingles gives a village to those whom match left alone.
func (c *builder) settleSingles(children []child, couples []couple, villages []string) {
	married := map[string]bool{}
	for _, pair := range couples {
		married[pair.one], married[pair.other] = true, true
	}
	singles := slices.DeleteFunc(namesOf(children), func(name string) bool { return married[name] })
	c.settle(singles, villages)
}

// children gives each couple between fewest and most children.
func (c *builder) children(couples []couple, fewest, most int) []child {
	var all []child
	for parents, pair := range couples {
		for range fewest + c.random.IntN(most-fewest+1) {
			name := c.person(pair.family)
			c.fact(pair.one, "parent_of", name)
			all = append(all, child{name, pair.family, parents})
		}
	}
	return all
}

// match marries about four in five of the children to somebody who is not a sibling.
func (c *builder) match(children []child) []couple {
	waiting := slices.Clone(children)
	c.random.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	waiting = waiting[:len(waiting)*4/5]
	var couples []couple
	for len(waiting) > 0 {
		one := waiting[0]
		waiting = waiting[1:]
		at := slices.IndexFunc(waiting, func(other child) bool { return other.parents != one.parents })
		if at < 0 {
			break
		}
		couples = append(couples, couple{one.name, waiting[at].name, one.family})
		waiting = slices.Delete(waiting, at, at+1)
	}
	return couples
}

func namesOf(children []child) []string {
	list := make([]string, len(children))
	for i, one := range children {
		list[i] = one.name
	}
	return list
}
