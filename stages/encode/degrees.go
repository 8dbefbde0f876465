package encode

import (
	"maps"
	"slices"

	"tagnet/formats/workspace/counts"
)

// Degrees counts the entities of some tables of edges by their number of facts.
type Degrees struct {
	// Entities has the number of entities by the number of facts with them, as head or tail.
	Entities map[int64]int64
	// MostIn and MostOut are the largest numbers of facts with one tail, and with one head.
	MostIn, MostOut int64
}

// add counts an entity that is the tail of some facts and the head of others, unless it has none.
func (d *Degrees) add(in, out int64) {
	if in+out == 0 {
		return
	}
	if d.Entities == nil {
		d.Entities = map[int64]int64{}
	}
	d.Entities[in+out]++
	d.MostIn, d.MostOut = max(d.MostIn, in), max(d.MostOut, out)
}

// merge adds the entities of other tables.
func (d *Degrees) merge(other Degrees) {
	if d.Entities == nil {
		d.Entities = map[int64]int64{}
	}
	for facts, entities := range other.Entities {
		d.Entities[facts] += entities
	}
	d.MostIn, d.MostOut = max(d.MostIn, other.MostIn), max(d.MostOut, other.MostOut)
}

// summary returns the degrees of a graph with entities. Entities that are in no table have no facts. Of an even number
// of entities the median is the lower one of the two in the middle.
func (d Degrees) summary(entities int64) counts.Degrees {
	s := counts.Degrees{MostIn: d.MostIn, MostOut: d.MostOut}
	upTo := entities // with at most s.Median facts
	for _, n := range d.Entities {
		upTo -= n
	}
	for _, facts := range slices.Sorted(maps.Keys(d.Entities)) {
		if upTo >= (entities+1)/2 {
			break
		}
		s.Median = facts
		upTo += d.Entities[facts]
	}
	return s
}
