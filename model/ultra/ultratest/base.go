package ultratest

import (
	"testing"

	"tagnet/model/ultra"
)

// Base returns m.Base of a relation.
func Base(t testing.TB, m *ultra.Model, relation int32, threads int, reuse *ultra.Base) *ultra.Base {
	t.Helper()
	b, err := m.Base(t.Context(), relation, threads, reuse)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
