package names

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"short": "short", "exactly fifteen": "exactly fifteen", "telecommunication.n.01": "telecommu….n.01",
		"http://example.org/ns#parentOf": "…parentOf", "http://example.org/": "…example.org/", "/a/b/c/d/e/f/g/h/i/j": "/a/b/c/d/…h/i/j",
		"/film/film/release_date_s./film/film_release_region": "…film_rel…egion", strings.Repeat("ä", 1<<20): "äääääääää…äääää",
	} {
		if got := Shorten(name, 15); got != want {
			t.Errorf("%.100s becomes %s, want %s", name, got, want)
		}
	}
}
