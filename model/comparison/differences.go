package comparison

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Differing returns for each configuration the fields that are not the same in all of them. A nil configuration is not compared.
func Differing(configurations []map[string]json.RawMessage) []string {
	counts := map[string]map[string]int{} // of each field's values
	var compared int
	for _, fields := range configurations {
		if fields == nil {
			continue
		}
		compared++
		for name, value := range fields {
			if counts[name] == nil {
				counts[name] = map[string]int{}
			}
			counts[name][string(value)]++
		}
	}
	texts := make([]string, len(configurations))
	for i, own := range configurations {
		var found []string
		for _, name := range SortedFields(own) {
			if counts[name][string(own[name])] < compared {
				found = append(found, name+" "+cmp.Or(string(bytes.Trim(own[name], `"`)), "none"))
			}
		}
		texts[i] = strings.Join(found, ", ")
	}
	return texts
}

// SortedFields returns the names of a configuration's fields, first of those that determine the architecture.
func SortedFields(fields map[string]json.RawMessage) []string {
	first := []string{"relations", "relation_layers", "policy", "layers", "delta", "delta_mode", "dim", "aggregate", "message"}
	weight := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(fields), func(a, b string) int { return cmp.Or(weight(a)-weight(b), strings.Compare(a, b)) })
}
