package tables

import (
	"strings"
	"testing"
)

// TestForgedNames has tables with names that no NamesWriter accepts: a search of a name relies on their order, ids on
// there being one of each.
func TestForgedNames(t *testing.T) {
	const url = "mem://tables/forged-names"
	for want, names := range map[string][]string{"duplicate": {"a", "b", "b"}, "comes after": {"b", "a"}} {
		w, err := CreateNames(t.Context(), url, Entities)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			w.builder.Append(name)
			if err := w.count(len(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadNames(t.Context(), url, Entities); err == nil || !strings.Contains(err.Error(), url) ||
			!strings.Contains(err.Error(), names[len(names)-1]) {
			t.Errorf("ReadNames of %q: error %v", names, err)
		}
		err = EachName(t.Context(), url, Entities, func([]byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), url) || !strings.Contains(err.Error(), want) {
			t.Errorf("EachName of %q: error %v", names, err)
		}
		if n, err := CountNames(t.Context(), url, Entities); n != int64(len(names)) || err != nil {
			t.Errorf("CountNames of %q: %d, %v", names, n, err)
		}
	}
}
