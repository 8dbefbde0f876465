package study

// Counts are the numbers of messages of one query in one layer. Edges is the sum of Kept, PrunedEmpty
// and PrunedRedundant.
type Counts struct {
	// Edges is the number of messages without a window (NBFNet): one for each edge of the query's graph.
	Edges int64
	// Kept is the number of messages that the window admits, KeptEmpty the number of those whose
	// sender is not reached yet.
	Kept, KeptEmpty int64
	// PrunedEmpty is the number of messages that the window does not admit and whose sender is not
	// reached yet, PrunedRedundant the number of all others that it does not admit.
	PrunedEmpty, PrunedRedundant int64
}

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Edges: c.Edges + d.Edges, Kept: c.Kept + d.Kept, KeptEmpty: c.KeptEmpty + d.KeptEmpty,
		PrunedEmpty: c.PrunedEmpty + d.PrunedEmpty, PrunedRedundant: c.PrunedRedundant + d.PrunedRedundant,
	}
}

// Times returns the counts of n queries with counts c each.
func (c Counts) Times(n int64) Counts {
	return Counts{
		Edges: n * c.Edges, Kept: n * c.Kept, KeptEmpty: n * c.KeptEmpty,
		PrunedEmpty: n * c.PrunedEmpty, PrunedRedundant: n * c.PrunedRedundant,
	}
}

// Layer returns the counts of a layer, from 1, in a propagation of a number of layers; entities farther
// away than layers count as unreached. layers must be at most the hops of CountLevels.
func (l Levels) Layer(layers, layer, delta int) Counts {
	c := Counts{Edges: l.Edges}
	for distance := max(0, layer-delta); distance <= min(layer, layers); distance++ {
		c.Kept += l.Between[distance] // parents
		if delta >= 1 {
			c.Kept += l.Within[distance] // siblings
		}
		if delta >= 2 {
			c.Kept += l.below(distance, layers) // children
		}
	}
	// Kept though empty: the sender is on this layer's level or beyond.
	if delta >= 1 {
		c.KeptEmpty += l.Within[layer]
	}
	if delta >= 2 {
		c.KeptEmpty += l.Between[layer] + l.below(layer, layers)
	}
	// Not empty, kept or not: every edge that leaves a level before this layer's.
	sent := int64(0)
	for distance := range layer {
		sent += l.Between[distance] + l.Within[distance] + l.below(distance, layers)
	}
	c.PrunedEmpty = l.Edges - sent - c.KeptEmpty
	c.PrunedRedundant = l.Edges - c.Kept - c.PrunedEmpty
	return c
}

// below returns the number of edges from the level after a distance to the level at that distance, 0
// where the former is beyond the layers.
func (l Levels) below(distance, layers int) int64 {
	if distance+1 > layers {
		return 0
	}
	return l.Between[distance+1]
}
