package synthetic

import "math"

// pattern draws count facts of a base relation, from heads of one type to tails of another.
type pattern func(m *maker, relation int32, count int, heads, tails []int32)

// patterns are the patterns of relations in real graphs. From the fourth on they stay within a type.
var patterns = []pattern{scattered, scattered, functional, tree, near, symmetric}

// drawBase draws the facts of the first relations, about facts in all.
func (m *maker) drawBase(relations int, facts float64) {
	weights, total := make([]float64, relations), 0.
	for r := range weights {
		weights[r] = math.Exp(2 * m.rng.NormFloat64() / 2)
		total += weights[r]
	}
	for r := range int32(relations) {
		heads, tails := m.rng.IntN(len(m.types)), m.rng.IntN(len(m.types))
		draw := m.rng.IntN(len(patterns))
		if len(m.types[heads]) < 2 {
			draw = 0
		}
		if draw >= 3 {
			tails = heads
		}
		m.setTypes(r, heads, tails)
		count := max(3, int(facts*weights[r]/total))
		patterns[draw](m, r, count, m.types[heads], m.types[tails])
	}
}

// popular draws an entity of a type: the first are drawn more often, the more the larger the skew.
func (m *maker) popular(entities []int32, skew float64) int32 {
	return entities[min(int(math.Pow(m.rng.Float64(), skew)*float64(len(entities))), len(entities)-1)]
}

// scattered relates popular heads to popular tails.
func scattered(m *maker, relation int32, count int, heads, tails []int32) {
	byHead, byTail := 1+2*m.rng.Float64(), 1+3*m.rng.Float64()
	for range count {
		m.add(m.popular(heads, byHead), relation, m.popular(tails, byTail))
	}
}

// functional gives each of some heads one tail.
func functional(m *maker, relation int32, count int, heads, tails []int32) {
	skew := 1 + 4*m.rng.Float64()
	for _, i := range m.rng.Perm(len(heads))[:min(count, len(heads))] {
		m.add(heads[i], relation, m.popular(tails, skew))
	}
}

// tree gives entities a parent that comes before them.
func tree(m *maker, relation int32, count int, heads, _ []int32) {
	skew := 1 + 2*m.rng.Float64()
	for i := 1; i < min(count, len(heads)); i++ {
		m.add(heads[i], relation, m.popular(heads[:i], skew))
	}
}

// near relates entities that are near in the order of their type.
func near(m *maker, relation int32, count int, heads, _ []int32) {
	spread := 1 + m.rng.Float64()*math.Sqrt(float64(len(heads)))
	for range count {
		i := m.rng.IntN(len(heads))
		j := i + 1 + int(m.rng.ExpFloat64()*spread)
		m.add(heads[i], relation, heads[j%len(heads)])
	}
}

// symmetric relates near entities in both directions.
func symmetric(m *maker, relation int32, count int, heads, _ []int32) {
	spread := 1 + 3*m.rng.Float64()
	for range (count + 1) / 2 {
		i := m.rng.IntN(len(heads))
		j := (i + 1 + int(m.rng.ExpFloat64()*spread)) % len(heads)
		m.add(heads[i], relation, heads[j])
		m.add(heads[j], relation, heads[i])
	}
}
