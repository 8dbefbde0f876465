package names

import "strings"

// Shorten returns a name with at most the given number of letters, at least four. What it leaves out is from the
// middle, where an ellipsis stands, and from a path or an IRI the folders first, since such names differ at their ends.
func Shorten(name string, most int) string {
	all := []rune(name)
	if len(all) <= most {
		return name
	}
	if cut := strings.LastIndexAny(strings.TrimRight(name, "/#"), "/#"); cut >= 0 && len([]rune(name[cut+1:])) > 2 {
		all = append([]rune("…"), []rune(name[cut+1:])...)
		if len(all) <= most {
			return string(all)
		}
	}
	tail := most / 3
	return string(all[:most-1-tail]) + "…" + string(all[len(all)-tail:])
}
