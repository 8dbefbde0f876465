package lint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// above reports whether one room reaches another by the arrows of a graph of rooms.
func above(arrows map[string][]string, from, to string) bool {
	seen := map[string]bool{}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		for _, room := range arrows[next[0]] {
			if room == to {
				return true
			}
			if !seen[room] {
				seen[room] = true
				next = append(next, room)
			}
		}
	}
	return false
}

// TestRoomsOfModelStandOnEachOther holds that no folder of model imports one that reaches it, so that
// they have an order.
func TestRoomsOfModelStandOnEachOther(t *testing.T) {
	arrows := map[string][]string{}
	for _, p := range packages(t) {
		from, ours := roomOfModel(p.ImportPath)
		if !ours {
			continue
		}
		for _, imported := range p.Imports {
			if to, ours := roomOfModel(imported); ours && to != from {
				arrows[from] = append(arrows[from], to)
			}
		}
	}
	if len(arrows) < 5 {
		t.Errorf("%d rooms of model import others", len(arrows))
	}
	for _, room := range slices.Sorted(maps.Keys(arrows)) {
		if above(arrows, room, room) {
			t.Errorf("model/%s imports a folder of model that imports it, perhaps by others", room)
		}
	}
}

// roomOfModel returns the folder of model that a package is in, "" for the library itself, and whether the package is
// one of model.
func roomOfModel(path string) (room string, ours bool) {
	rest, ours := strings.CutPrefix(path+"/", module+"/model/")
	room, _, _ = strings.Cut(rest, "/")
	return room, ours
}

func TestAbove(t *testing.T) {
	arrows := map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"b"}}
	for _, test := range []struct {
		from, to string
		want     bool
	}{{"a", "d", true}, {"b", "b", true}, {"d", "a", false}, {"a", "a", false}} {
		if got := above(arrows, test.from, test.to); got != test.want {
			t.Errorf("%s above %s: %v", test.from, test.to, got)
		}
	}
}

// TestImportsKeepTheirNames holds that a package of ours has one name everywhere: two that one file
// needs have two names.
func TestImportsKeepTheirNames(t *testing.T) {
	for _, p := range packages(t) {
		for _, s := range p.sources(t) {
			for _, imported := range s.file.Imports {
				if imported.Name != nil && imported.Name.Name != "_" && strings.HasPrefix(imported.Path.Value, `"`+module+"/") {
					t.Errorf("%s: import of %s as %s: rename the package, or the variable that hides it", s.at(imported), imported.Path.Value,
						imported.Name.Name)
				}
			}
		}
	}
}
