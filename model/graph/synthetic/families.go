package synthetic

import (
	"fmt"
	"slices"
)

// The size of the sample's country.
const (
	regions, districtsPerRegion, villagesPerDistrict = 4, 3, 3
	founders                                         = 34 // couples without parents
)

// country makes up three generations of people in the villages of a country: the facts from which the rules
// conclude all others.
//
// Two choices keep the rules exact: nobody marries a sibling, and all children of a couple are children of both.
func country(d *draft) {
	villages := d.places()
	couples := make([]couple, founders)
	for i := range couples {
		family := surnames[i%len(surnames)]
		couples[i] = couple{d.person(family), d.person(pick(d.random, surnames)), family}
		d.marry(couples[i], villages)
	}
	children := d.children(couples, 2, 4)
	couples = d.match(children)
	for _, pair := range couples {
		d.marry(pair, villages)
	}
	d.settleSingles(children, couples, villages)
	d.settle(namesOf(d.children(couples, 1, 4)), villages)
}

// couple is two people and the name that their children bear.
type couple struct{ one, other, family string }

// child is a person who knows their parents, and the name they pass on.
type child struct {
	name, family string
	parents      int
}

// person returns a name that nobody has yet.
func (d *draft) person(family string) string {
	for tries := 1; ; tries++ {
		name := pick(d.random, firstNames) + " " + family
		if tries > 8 {
			name = fmt.Sprintf("%s %c. %s", pick(d.random, firstNames), 'A'+rune(d.random.IntN(26)), family)
		}
		if !d.people[name] {
			d.people[name] = true
			return name
		}
	}
}

// places lays out villages in districts in regions, and roads between villages; it returns the villages.
func (d *draft) places() []string {
	var villages []string
	for r := range regions {
		region := regionNames[r]
		for i := range districtsPerRegion {
			district := districtNames[r*districtsPerRegion+i]
			d.add(district, "located_in", region)
			for range villagesPerDistrict {
				village := villageNames[len(villages)]
				d.add(village, "located_in", district)
				villages = append(villages, village)
			}
		}
	}
	for i, village := range villages {
		d.add(village, "borders", villages[(i+1)%len(villages)])
		d.add(village, "borders", villages[(i+7)%len(villages)])
	}
	return villages
}

// marry joins two people and gives them a village to live in.
func (d *draft) marry(pair couple, villages []string) {
	d.add(pair.one, "spouse_of", pair.other)
	d.settle([]string{pair.one}, villages)
}

// settle gives each person a village to live in.
func (d *draft) settle(people, villages []string) {
	for _, person := range people {
		d.add(person, "lives_in", pick(d.random, villages))
	}
}

// settleSingles gives a village to those whom match left alone.
func (d *draft) settleSingles(children []child, couples []couple, villages []string) {
	married := map[string]bool{}
	for _, pair := range couples {
		married[pair.one], married[pair.other] = true, true
	}
	singles := slices.DeleteFunc(namesOf(children), func(name string) bool { return married[name] })
	d.settle(singles, villages)
}

// children gives each couple between fewest and most children.
func (d *draft) children(couples []couple, fewest, most int) []child {
	var all []child
	for parents, pair := range couples {
		for range fewest + d.random.IntN(most-fewest+1) {
			name := d.person(pair.family)
			d.add(pair.one, "parent_of", name)
			all = append(all, child{name, pair.family, parents})
		}
	}
	return all
}

// match marries about four in five of the children to somebody who is not a sibling.
func (d *draft) match(children []child) []couple {
	waiting := slices.Clone(children)
	d.random.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
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
