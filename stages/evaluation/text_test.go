package evaluation

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
)

var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)

// numbered returns a row whose fields have different values, with the names of its columns and the values as text.
func numbered[T any](t *testing.T) (row T, columns, values []string) {
	t.Helper()
	v := reflect.ValueOf(&row).Elem()
	for i := range v.NumField() {
		name, field := strings.ToLower(wordEnd.ReplaceAllString(v.Type().Field(i).Name, "${1}_$2")), v.Field(i)
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		text := fmt.Sprint(i + 2)
		switch field.Kind() {
		case reflect.String:
			field.SetString(text)
		case reflect.Bool:
			field.SetBool(true)
			text = "true"
		case reflect.Float32, reflect.Float64:
			field.SetFloat(float64(i + 2))
		default:
			field.SetInt(int64(i + 2))
		}
		if name == "direction" {
			field.SetString(metrics.Tail)
		}
		if !slices.Contains([]string{"direction", "steps"}, name) { // which text does not have
			columns, values = append(columns, name), append(values, text)
		}
	}
	return row, columns, values
}

// sameColumns compares a heading and the text of a row with the columns of its table.
func sameColumns[T any](t *testing.T, heading string, lines func([]T) []byte) {
	t.Helper()
	row, columns, values := numbered[T](t)
	if want := strings.Join(columns, "\t") + "\n" + strings.Join(values, "\t") + "\n"; heading+string(lines([]T{row})) != want {
		t.Errorf("%T: %s%s, want %s", row, heading, lines([]T{row}), want)
	}
}

// TestTextHasTheColumnsOfTables holds that the text of a table has its columns, in their order.
func TestTextHasTheColumnsOfTables(t *testing.T) {
	sameColumns(t, AnswersHeading, AnswerLines)
	sameColumns(t, TriplesHeading, TripleLines)
	sameColumns(t, FactsHeading, FactLines)
	sameColumns[parquet.Explanation](t, ExplanationsHeading, ExplanationLines)
}
