package parameters

import "tagnet/model/weights/configuration"

// OfRelations reports for each tensor of a configuration's layout whether it has a block of equal size for each
// relation, base relations by id, then their inverses: whether its size depends on the number of relations.
func OfRelations(c configuration.Configuration) []bool {
	few, more := Layout(c, 2), Layout(c, 4)
	byRelation := make([]bool, len(few))
	for i := range few {
		byRelation[i] = few[i].Size() != more[i].Size()
	}
	return byRelation
}

// MatchRelations finds the base relations of a graph among those that weights were trained with, by their names, which
// are distinct. rows has, for each relation of the graph, its id among the trained relations if it is one. unknown are
// the graph's others; unused are the trained ones that the graph lacks.
func MatchRelations(trained, graph []string) (rows []int, unknown, unused []string) {
	left := make(map[string]int, len(trained))
	for i, name := range trained {
		left[name] = i
	}
	rows = make([]int, len(graph))
	for i, name := range graph {
		row, ok := left[name]
		if !ok {
			unknown = append(unknown, name)
		}
		rows[i] = row
		delete(left, name)
	}
	for _, name := range trained {
		if _, ok := left[name]; ok {
			unused = append(unused, name)
		}
	}
	return rows, unknown, unused
}

// CopyRelations copies the blocks of relations from a tensor that has base of them, and their inverses. rows has, for
// each base relation of to, the base relation of from whose block it gets.
func CopyRelations[F Float](to, from []F, base int, rows []int) {
	block := len(from) / (2 * base)
	for i, row := range rows {
		copy(to[i*block:(i+1)*block], from[row*block:])
		copy(to[(i+len(rows))*block:(i+len(rows)+1)*block], from[(row+base)*block:])
	}
}
