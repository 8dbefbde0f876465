package storagetest

import (
	"reflect"
	"slices"
	"testing"
)

// EveryField fails the test unless each field of a struct has a value in one of its rows: a column that no code fills
// is always 0.
func EveryField[R any](t testing.TB, rows []R) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		if !slices.ContainsFunc(rows, func(r R) bool { return !reflect.ValueOf(r).FieldByIndex(field.Index).IsZero() }) {
			t.Errorf("%s is empty in each of %d rows", field.Name, len(rows))
		}
	}
}
