package parameters

import "strings"

// OfRelations reports whether a tensor has a block of equal size for each relation: base relations by id, then their
// inverses.
func OfRelations(name string) bool {
	return name == "query.weight" || strings.Contains(name, ".relation.") || strings.Contains(name, ".relation_linear.")
}

// CopyRelations copies the blocks of relations from a tensor with so many base relations. rows has, for each base relation
// of to, the one whose block it gets. crossed gives each relation the block of the inverse.
func CopyRelations[F Float](to, from []F, base int, rows []int, crossed bool) {
	block := len(from) / (2 * base)
	for i, row := range rows {
		along, against := row, row+base
		if crossed {
			along, against = against, along
		}
		copy(to[i*block:(i+1)*block], from[along*block:])
		copy(to[(i+len(rows))*block:(i+len(rows)+1)*block], from[against*block:])
	}
}
