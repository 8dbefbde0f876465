package synthetic

import "slices"

// derive draws one or two rules for a relation, and adds the facts that follow from them, and some that do not.
func (m *maker) derive(head int32) {
	first := m.productive(head)
	m.setTypes(head, m.heads[first[0]], m.tails[first[len(first)-1]])
	m.follow(head, first)
	if m.rng.Float64() < .3 {
		if second := m.drawBody(head); m.heads[second[0]] == m.heads[head] && m.tails[second[len(second)-1]] == m.tails[head] {
			m.follow(head, second)
		}
	}
	m.addNoise(head)
}

// productive draws some walks, and returns the one that leads somewhere from most entities of its
// type: many lead nowhere.
func (m *maker) productive(before int32) (body []int32) {
	const bodies, starts = 4, 48
	most := -1
	for range bodies {
		drawn, count := m.drawBody(before), 0
		heads := m.types[m.heads[drawn[0]]]
		for range starts {
			count += min(2, len(m.ends(heads[m.rng.IntN(len(heads))], drawn)))
		}
		if count > most {
			body, most = drawn, count
		}
	}
	return body
}

// drawBody draws a walk of one to three relations that come before one, in either direction. Where relations fit, each
// starts at the type at which the one before it ends.
func (m *maker) drawBody(before int32) []int32 {
	length := []int{1, 2, 2, 2, 3, 3}[m.rng.IntN(6)]
	var body []int32
	for len(body) < length {
		var fitting []int32
		for r := range before {
			for _, directed := range []int32{r, r + int32(m.Relations)} {
				if m.out[directed] != nil && (len(body) == 0 || m.heads[directed] == m.tails[body[len(body)-1]]) {
					fitting = append(fitting, directed)
				}
			}
		}
		body = append(body, fitting[m.rng.IntN(len(fitting))]) // the inverse of the one before always fits
	}
	return body
}

// follow adds facts that follow from a rule, with a confidence that it draws. Walks start at all entities in random
// order, until there are enough facts.
func (m *maker) follow(head int32, body []int32) {
	rule := Rule{Head: head, Body: body, Confidence: .5 + .5*m.rng.Float64()}
	m.Rules = append(m.Rules, rule)
	most := max(20, m.Base/max(1, m.Relations/2)*(1+m.rng.IntN(3)))
	added := 0
	for _, x := range m.rng.Perm(m.Entities) {
		for _, y := range m.ends(int32(x), body) {
			if int32(x) == y || m.rng.Float64() >= rule.Confidence {
				continue
			}
			m.add(int32(x), head, y)
			added++
		}
		if added >= most {
			return
		}
	}
}

// mostEnds bounds how many ends of walks from an entity a rule takes, so that hubs do not fill a relation.
const mostEnds = 24

// ends returns the ends of walks from an entity, each once, ascending.
func (m *maker) ends(from int32, body []int32) []int32 {
	at := []int32{from}
	for _, relation := range body {
		var next []int32
		for _, o := range at {
			next = append(next, m.out[relation][o]...)
		}
		slices.Sort(next)
		next = slices.Compact(next)
		if len(next) > mostEnds {
			m.rng.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
			next = next[:mostEnds]
			slices.Sort(next)
		}
		at = next
	}
	return at
}

// addNoise adds facts of a relation between entities of its types that no rule gives.
func (m *maker) addNoise(relation int32) {
	count := 0
	for _, tailsOf := range m.out[relation] {
		count += len(tailsOf)
	}
	heads, tails := m.types[m.heads[relation]], m.types[m.tails[relation]]
	for range int(float64(count) * .15 * m.rng.Float64()) {
		m.add(heads[m.rng.IntN(len(heads))], relation, tails[m.rng.IntN(len(tails))])
	}
}
