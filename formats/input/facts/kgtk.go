package facts

import (
	"slices"
	"strings"
)

// kgtk leaves out the rows of a KGTK file that are about no two entities. The file has the columns id, node1, label and
// node2; see https://kgtk.readthedocs.io/en/latest/specification/.
type kgtk struct {
	id int // its column, from 1, or 0 for other files
	// edge is the id of the last row that is an edge, which those of its qualifiers follow.
	edge                 string
	literals, qualifiers int64
}

// kgtkOf returns what a file with these columns needs.
func kgtkOf(columns []string) kgtk {
	names := make([]string, len(columns))
	for i, name := range columns {
		names[i] = plain(name)
	}
	for _, name := range []string{"id", "node1", "label", "node2"} {
		if !slices.Contains(names, name) {
			return kgtk{}
		}
	}
	return kgtk{id: 1 + slices.Index(names, "id")}
}

// leavesOut counts a row whose node2 is a literal, or that qualifies the edge before it.
func (k *kgtk) leavesOut(fields []string, at [3]int) bool {
	const literals = `"'^@!+-0123456789`
	switch {
	case k.id == 0:
		return false
	case fields[at[0]] == k.edge && k.edge != "":
		k.qualifiers++
		return true
	}
	if k.id <= len(fields) {
		k.edge = strings.Clone(fields[k.id-1])
	}
	if fields[at[2]] != "" && strings.Contains(literals, fields[at[2]][:1]) {
		k.literals++
		return true
	}
	return false
}
