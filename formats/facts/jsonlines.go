package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/formats/triples"
)

// isObject reports whether a line is a JSON object, or an array of values.
func isObject(line string) bool {
	return (strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") && !strings.HasPrefix(strings.TrimLeft(line[1:], " "), "{")) && json.Valid([]byte(line))
}

// readObjects reads JSON lines: each is an object with the names of head, relation and tail, or an array of the three.
func readObjects(url string, r io.Reader, o Options, each Each, bad Bad) error {
	return triples.ReadLines(url, "a JSON object with head, relation and tail", r, func(line int, text []byte) error {
		fact, err := factOf(text, o.Columns)
		if err != nil {
			return bad(triples.BadLine{
				File: url, Line: line, Reason: err.Error(), Remedy: `write {"head": "...", "relation": "...", "tail": "..."} or ["head", "relation", "tail"] in each line, or name other keys with --columns`,
				Text: triples.Shown(text),
			})
		}
		return each(line, fact)
	}, bad)
}

// factOf returns the fact of a line of JSON.
func factOf(text []byte, columns []string) (Fact, error) {
	values, err := valuesOf(bytes.TrimSpace(text), columns)
	if err != nil {
		return Fact{}, err
	}
	var names [3]string
	for i, value := range values {
		if names[i], err = nameOf(value); err != nil {
			return Fact{}, fmt.Errorf("the %s is %w", [...]string{"head", "relation", "tail"}[i], err)
		}
	}
	return Fact{names[0], names[1], names[2]}, nil
}

// valuesOf returns the values of head, relation and tail.
func valuesOf(text []byte, columns []string) (chosen [3]json.RawMessage, err error) {
	var keys []string // of an array there are none
	var values []json.RawMessage
	switch {
	case len(text) == 0:
		return chosen, errors.New("blank line")
	case text[0] == '[':
		if err := json.Unmarshal(text, &values); err != nil {
			return chosen, notJSON(err)
		}
		if len(columns) == 0 && len(values) != 3 {
			return chosen, fmt.Errorf("%s instead of 3", plural(len(values), "value"))
		}
	default:
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			return chosen, notJSON(err)
		}
		keys = slices.Sorted(maps.Keys(object))
		for _, key := range keys {
			values = append(values, object[key])
		}
		_, known := usual(keys)
		if len(columns) > 0 {
			known = !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(keys, c) })
		}
		if !known {
			return chosen, fmt.Errorf("the keys are %s", strings.Join(keys, ", "))
		}
	}
	at, err := choose(columns, keys)
	if err != nil {
		return chosen, errors.New(remedy.Without(err))
	}
	for i, position := range at {
		if position >= len(values) {
			return chosen, fmt.Errorf("%s, but value %d is chosen", plural(len(values), "value"), position+1)
		}
		chosen[i] = values[position]
	}
	return chosen, nil
}

// nameOf returns a text, or the digits of an integer.
func nameOf(value json.RawMessage) (name string, err error) {
	if value[0] == '"' {
		return name, json.Unmarshal(value, &name)
	}
	if strings.Trim(string(value), "-0123456789") != "" {
		return "", fmt.Errorf("%s, neither a text nor an integer", triples.Shown(value))
	}
	return string(value), nil
}

func notJSON(err error) error { return fmt.Errorf("not a JSON object or array: %w", err) }
