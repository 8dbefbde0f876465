package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
)

// requestFields are the fields of a request, queryFields the fields of one of its queries.
var (
	requestFields = []string{"source", "relation", "queries", "k", "known", "candidates"}
	queryFields   = []string{"source", "relation"}
)

// decode reads a body with one JSON object that has some of the fields, each at most once. want says
// in errors with which.
func decode[T any](w http.ResponseWriter, r *http.Request, fields []string, want string) (q T, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return q, checkFields(json.NewDecoder(bytes.NewReader(body)), fields, nil)
	case errors.As(err, &large):
		return q, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return q, &failure{status: http.StatusRequestTimeout, close: true, Text: fmt.Sprintf("the body did not arrive within %v", bodyTimeout)}
	case errors.As(err, &kind) && kind.Field != "":
		return q, invalid("%s is %s: want %s", kind.Field, kind.Value, jsonKind(kind.Type))
	case errors.As(err, &kind):
		return q, invalid("the body is %s: want a JSON object with %s", kind.Value, want)
	case len(bytes.TrimSpace(body)) == 0:
		return q, invalid("the body is empty: want a JSON object with %s", want)
	}
	return q, invalid("the body is not a JSON object of this request: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// checkFields checks the names of the fields of what follows, which is valid JSON of the right types. encoding/json
// ignores the case of a name, and takes the last of several values, neither of which the parameters of a URL allow.
// outer are the names of the fields around it.
func checkFields(body *json.Decoder, known, outer []string) error {
	begin, err := body.Token()
	if begin != json.Delim('{') && begin != json.Delim('[') {
		return err
	}
	seen := map[json.Token]bool{}
	for body.More() {
		if begin == json.Delim('{') {
			name, err := body.Token()
			switch {
			case err != nil:
				return err
			case !slices.Contains(known, name.(string)) && slices.Contains(outer, name.(string)):
				return invalid("%s stands in a query: want it beside queries, for all of them", name)
			case !slices.Contains(known, name.(string)):
				return invalid("unknown field %q: want %s", name, strings.Join(known, ", "))
			case seen[name]:
				return invalid("%s stands more than once: want it once", name)
			}
			seen[name] = true
		}
		if err := checkFields(body, queryFields, slices.Concat(known, outer)); err != nil {
			return err
		}
	}
	_, err = body.Token()
	return err
}

// jsonKind returns what a request has in JSON for a type of Go.
func jsonKind(goType reflect.Type) string {
	switch goType.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "a string"
}
