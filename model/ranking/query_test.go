package ranking

import (
	"errors"
	"fmt"
	"testing"
)

// TestNamed replaces the ids of a query by names, and leaves the error what it was.
func TestNamed(t *testing.T) {
	entities, relations := []string{"Ada", "Bo"}, []string{"knows", "likes"}
	scoring := fmt.Errorf("epoch-003: %w; wait", NotFinite(1, 3, 2, 7))
	for _, c := range []struct {
		err  error
		want string
	}{
		{scoring, `epoch-003: scoring ("Bo", "~likes", ?): 2 of 7 scores are NaN or infinite: ` + ErrNotFinite.Error() + "; wait"},
		{&QueryError{"training on", 0, 0, 1, ErrNotFinite}, `training on ("Ada", "knows", "Bo"): ` + ErrNotFinite.Error()},
		{NotFinite(2, 0, 2, 7), "scoring (2, 0, ?): 2 of 7 scores are NaN or infinite: " + ErrNotFinite.Error()},
		{NotFinite(0, 4, 2, 7), "scoring (0, 4, ?): 2 of 7 scores are NaN or infinite: " + ErrNotFinite.Error()},
	} {
		if got := Named(c.err, entities, relations); got.Error() != c.want || !errors.Is(got, ErrNotFinite) {
			t.Errorf("%v; want %s", got, c.want)
		}
	}
	if other := errors.New("another"); Named(other, entities, relations) != other || Named(nil, entities, relations) != nil {
		t.Error("an error about no query has changed")
	}
}
