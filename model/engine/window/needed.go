package window

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// The states that the final states of some candidates depend on are few while training: a state of age
// k depends on the entity's own state of age k-1, its parents' of age k, its siblings' of age k-1 and
// its children's of age k-2. So an entity needs its states of ages 0, 1, .. up to the newest needed one,
// and only that has to be found.
//
// The state of age k of an entity at distance D is computed by layer D + k and depends on states of the
// layer before. Going through the layers from the last to the first, the newest needed state of an
// entity is known when its layer comes, and the entity's edges are visited once.

// FillFor fills the layout as Fill, sets Needed, and, unless all is set, leaves out rows that the candidates' final
// states do not depend on if that saves time. Then all other entities have no row, a row lists at
// least the admitted senders that its needed states depend on, and Admitted does not apply.
func (l *Layout) FillFor(q graph.Query, hops, delta int, table int32, candidates []int32, all bool) {
	if !all && l.fewDepended(len(candidates)) {
		l.fillCone(q, hops, delta, table, candidates)
		return
	}
	l.Fill(q, hops, delta, table)
	l.findNeeded(candidates)
}

// fewDepended guesses whether few entities have needed states, so that finding these before laying out rows saves time.
// With 128 candidates they are a fifth of WN18RR's, but most of FB15k-237's.
func (l *Layout) fewDepended(candidates int) bool {
	neighbors := float64(candidates) * float64(l.graph.Edges()) / float64(l.graph.Entities)
	return 8*neighbors < float64(l.graph.Entities)
}

// findNeeded sets Needed for a layout that has all entities.
func (l *Layout) findNeeded(candidates []int32) {
	l.Needed = parallel.Cleared(l.Needed, l.Count())
	l.newest = parallel.Extend(l.newest, l.hops+1)
	for layer := range l.newest {
		l.newest[layer] = l.newest[layer][:0]
	}
	for _, entity := range candidates {
		if row := l.Row(entity); row != kernel.NoRow {
			distance := l.Distance(row)
			l.need(row, distance, min(l.delta, l.hops-distance))
		}
	}
	for layer := l.hops; layer > 0; layer-- {
		for _, row := range l.newest[layer] {
			age := int(l.Needed[row]) - 1
			if distance := layer - age; distance >= 0 && row >= l.Levels[distance] && row < l.Levels[distance+1] {
				l.needSenders(row, distance, age)
			}
		}
	}
}

// need adds the states of a row up to an age.
func (l *Layout) need(row int32, distance, age int) {
	if int(l.Needed[row]) <= age {
		l.Needed[row] = uint8(age + 1)
		l.newest[distance+age] = append(l.newest[distance+age], row)
	}
}

// needSenders adds the senders' states that a row's state of an age depends on.
func (l *Layout) needSenders(row int32, distance, age int) {
	for kind := range min(age+1, 3) {
		offset := l.SenderRow(0, kind)
		for _, sender := range l.Senders.Rows[l.Senders.Offsets[3*int(row)+kind]:l.Senders.Offsets[3*int(row)+kind+1]] {
			l.need(sender+offset, distance+kind-1, age-kind)
		}
	}
}
