package synthetic

// hierarchy draws terms that have exactly one parent each (is_a), and what they inherit. Planted are:
//
//   - a term has the properties of its parent (97%), and is part of the machines of its parent (95%); 3% of the facts
//     of each of both relations are noise, and each term above the last level has a property or two of its own
//   - a part of a machine is used where that stands (98%)
//
// The parent of a term follows from what both have in common, and is easily told from its name.
func hierarchy(d *draft) {
	// Machines stand in plants.
	d.name("plant", regionNames...)
	for _, machine := range d.name("machine", machineNames...) {
		d.add(machine, "stands_in", pick(d.random, regionNames))
	}
	d.name("property", propertyNames...)
	// The terms below the top are parts of machines.
	addProperties := func(term string) {
		for _, property := range some(d.random, propertyNames, 1+d.random.IntN(2)) {
			d.add(term, "has_property", property)
		}
	}
	const top = "part"
	d.name("term", top)
	level := d.name("term", partNames...)
	for _, term := range level {
		d.add(term, "is_a", top)
		addProperties(term)
		for _, machine := range some(d.random, machineNames, 2) {
			d.add(term, "part_of", machine)
		}
	}
	// Each further level puts adjectives before the terms of the one above; the last has no properties of its own.
	for depth, adjectives := range partAdjectives {
		var next []string
		for _, parent := range level {
			for _, adjective := range some(d.random, adjectives, 4-depth) {
				term := adjective + " " + parent
				next = append(next, term)
				d.add(term, "is_a", parent)
				if depth < len(partAdjectives)-1 {
					addProperties(term)
				}
			}
		}
		level = d.name("term", next...)
	}
	// The rules add what a term inherits, and noise.
	d.plant(.97, .03, "has_property", step{"is_a", false}, step{"has_property", false})
	d.plant(.95, .03, "part_of", step{"is_a", false}, step{"part_of", false})
	d.plant(.98, 0, "used_in", step{"part_of", false}, step{"stands_in", false})
}
