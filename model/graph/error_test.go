package graph

import (
	"errors"
	"fmt"
	"testing"
)

// TestNamed replaces the ids of a query by names, and leaves the error what it was.
func TestNamed(t *testing.T) {
	entities, relations := []string{"Ada", "Bo"}, []string{"knows", "likes"}
	failed := errors.New("no luck")
	inError := func(doing string, source, relation, answer int32) error {
		return &QueryError{doing, Query{Source: source, Relation: relation, Answer: answer}, failed}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("epoch-003: %w; wait", inError("scoring", 1, 3, None)), `epoch-003: scoring ("Bo", "~likes", ?): no luck; wait`},
		{inError("training on", 0, 0, 1), `training on ("Ada", "knows", "Bo"): no luck`},
		{inError("scoring", 2, 0, None), "scoring (2, 0, ?): no luck"},
		{inError("scoring", 0, 4, None), "scoring (0, 4, ?): no luck"},
	} {
		if got := Named(c.err, entities, relations); got.Error() != c.want || !errors.Is(got, failed) {
			t.Errorf("%v; want %s", got, c.want)
		}
	}
	if other := errors.New("another"); Named(other, entities, relations) != other || Named(nil, entities, relations) != nil {
		t.Error("an error about no query has changed")
	}
}
