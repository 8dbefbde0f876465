package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
)

// isObject reports whether a line is a JSON object, or an array of values.
func isObject(line string) bool {
	return (strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") && !strings.HasPrefix(strings.TrimLeft(line[1:], " "), "{")) &&
		json.Valid([]byte(line))
}

// readObjects reads JSON lines: each is an object with the names of head, relation and tail, or an array of the three.
func readObjects(url string, r io.Reader, o Options, each Each, bad Bad) (counts Counts, err error) {
	first := true
	err = triples.ReadLines(url, "a JSON object with head, relation and tail", r, func(line int, text []byte) error {
		fact, left, err := factOf(text, o.Columns)
		if err == nil && first {
			first, counts.Unread = false, columnsOf(left)
		}
		if err != nil {
			return bad(triples.BadLine{
				File: url, Line: line, Reason: err.Error(), Text: triples.Shown(text),
				Remedy: remedy.Do("write %s in each line, or name other keys with %v",
					`{"head": "...", "relation": "...", "tail": "..."} or ["head", "relation", "tail"]`, columnsFlag),
			})
		}
		return each(line, fact)
	}, bad)
	return counts, err
}

// factOf returns the fact of a line of JSON, and the columns that are not read.
func factOf(text []byte, columns []string) (Fact, []unread, error) {
	values, left, err := valuesOf(bytes.TrimSpace(text), columns)
	if err != nil {
		return Fact{}, nil, err
	}
	var names [3]string
	for i, value := range values {
		if names[i], err = nameOf(value); err != nil {
			return Fact{}, nil, fmt.Errorf("the %s is %w", [...]string{"head", "relation", "tail"}[i], err)
		}
	}
	return Fact{names[0], names[1], names[2]}, left, nil
}

// valuesOf returns the values of head, relation and tail, and the columns that are left. A key within an inner object
// has both names: start.id.
func valuesOf(text []byte, columns []string) (chosen [3]json.RawMessage, left []unread, err error) {
	// A line is an array of values or an object with keys.
	var keys []string // of an array there are none
	var values []json.RawMessage
	switch {
	case len(text) == 0:
		return chosen, nil, errors.New("blank line")
	case text[0] == '[':
		if err := json.Unmarshal(text, &values); err != nil {
			return chosen, nil, notJSON(err)
		}
		if len(columns) == 0 && len(values) != 3 {
			return chosen, nil, fmt.Errorf("%s instead of 3", plural(len(values), "value"))
		}
	default:
		if err := json.Unmarshal(text, &map[string]json.RawMessage{}); err != nil {
			return chosen, nil, notJSON(err)
		}
		if keys, values, err = flatten(text); err != nil {
			return chosen, nil, err
		}
		_, known := usual(keys)
		if len(columns) > 0 {
			known = !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(keys, c) })
		}
		if !known {
			return chosen, nil, fmt.Errorf("the keys are %s", triples.Shown([]byte(strings.Join(keys, ", "))))
		}
	}
	// The values of head, relation and tail are taken by key or position.
	at, err := choose(columns, keys)
	if err != nil {
		return chosen, nil, errors.New(remedy.Without(err))
	}
	for i, position := range at {
		if position >= len(values) {
			return chosen, nil, fmt.Errorf("%s, but value %d is chosen", plural(len(values), "value"), position+1)
		}
		chosen[i] = values[position]
	}
	row := keys
	if keys == nil {
		row = make([]string, len(values))
	}
	return chosen, unreadOf(row, keys, at), nil
}

// mostNames bounds the names of a line's keys, in bytes: each key has those of all objects around it in its name.
const mostNames = 16 << 20

// flatten returns the keys and values of an object and of the objects within it, whose keys follow the outer key and a
// dot. A key that occurs twice is an error.
func flatten(text []byte) (keys []string, values []json.RawMessage, err error) {
	decoder, size := json.NewDecoder(bytes.NewReader(text)), 0
	var members func(prefix string) error
	members = func(prefix string) error {
		if _, err := decoder.Token(); err != nil { // the bracket
			return err
		}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name := prefix + key.(string)
			if size += len(name); size > mostNames {
				return fmt.Errorf("the names of the keys, with those of the objects around each, take more than %d bytes", mostNames)
			}
			if bytes.HasPrefix(bytes.TrimLeft(text[decoder.InputOffset():], ": \t\r\n"), []byte("{")) {
				if err := members(name + "."); err != nil {
					return err
				}
				continue
			}
			var value json.RawMessage
			if err := decoder.Decode(&value); err != nil {
				return err
			}
			keys, values = append(keys, name), append(values, value)
		}
		_, err := decoder.Token()
		return err
	}
	if err := members(""); err != nil {
		return nil, nil, err
	}
	sorted := slices.Clone(keys)
	slices.Sort(sorted)
	for i, key := range sorted {
		if i > 0 && key == sorted[i-1] {
			return nil, nil, fmt.Errorf("the key %q stands twice", triples.Shown([]byte(key)))
		}
	}
	return keys, values, nil
}

// replacement is U+FFFD as JSON writes it.
var replacement = regexp.MustCompile(`(?i)\\ufffd|\x{fffd}`)

// nameOf returns a text, or the digits of an integer.
func nameOf(value json.RawMessage) (name string, err error) {
	if value[0] == '"' {
		err = json.Unmarshal(value, &name)
		if err == nil && strings.Count(name, "\uFFFD") > len(replacement.FindAll(value, -1)) {
			err = fmt.Errorf("%s, with half of a surrogate pair, which is no letter", triples.Shown(value))
		}
		return name, err
	}
	if strings.Trim(string(value), "-0123456789") != "" {
		return "", fmt.Errorf("%s, neither a text nor an integer", triples.Shown(value))
	}
	return string(value), nil
}

func notJSON(err error) error { return fmt.Errorf("not a JSON object or array: %w", err) }
