package messages

// Counts are the messages of one query in one layer. Edges is what is sent without
// truncation; it is the sum of Kept, PrunedEmpty and PrunedRedundant.
type Counts struct {
	// Edges is one message for each edge of the query's graph (nbfnet).
	Edges int64
	// Kept is what the window lets through, KeptEmpty those of it whose sender is not reached yet.
	Kept, KeptEmpty int64
	// PrunedEmpty and PrunedRedundant are what it does not, by whether the sender is reached.
	PrunedEmpty, PrunedRedundant int64
}

// Plus is the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Edges: c.Edges + d.Edges, Kept: c.Kept + d.Kept, KeptEmpty: c.KeptEmpty + d.KeptEmpty,
		PrunedEmpty: c.PrunedEmpty + d.PrunedEmpty, PrunedRedundant: c.PrunedRedundant + d.PrunedRedundant,
	}
}

// Times is the counts of n queries that are alike.
func (c Counts) Times(n int64) Counts {
	return Counts{
		Edges: n * c.Edges, Kept: n * c.Kept, KeptEmpty: n * c.KeptEmpty,
		PrunedEmpty: n * c.PrunedEmpty, PrunedRedundant: n * c.PrunedRedundant,
	}
}

// Layer counts layer 1, ..., layers of a propagation of that many layers: what lies beyond
// layers counts as unreached. It wants layers to be at most the hops of CountLevels.
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
	// Kept though empty: senders on this layer's level or beyond.
	if delta >= 1 {
		c.KeptEmpty += l.Within[layer]
	}
	if delta >= 2 {
		c.KeptEmpty += l.Between[layer] + l.below(layer, layers)
	}
	// Not empty in all: every edge that leaves a level before this layer's.
	sent := int64(0)
	for distance := range layer {
		sent += l.Between[distance] + l.Within[distance] + l.below(distance, layers)
	}
	c.PrunedEmpty = l.Edges - sent - c.KeptEmpty
	c.PrunedRedundant = l.Edges - c.Kept - c.PrunedEmpty
	return c
}

// below is the number of edges from the level after a distance to that distance, 0 where
// that level is unreached.
func (l Levels) below(distance, layers int) int64 {
	if distance+1 > layers {
		return 0
	}
	return l.Between[distance+1]
}
