package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Differences lists the fields in which two values differ as JSON objects, nested ones by their path:
// "layers is 6 there, 3 here".
func Differences(there, here any) ([]string, error) {
	var decoded [2]any
	for i, value := range []any{there, here} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // as they are written
		if err := d.Decode(&decoded[i]); err != nil {
			return nil, err
		}
	}
	var out []string
	differ("", decoded[0], decoded[1], &out)
	return out, nil
}

// longest is the length of the longest value that is shown, so that hashes are not.
const longest = 40

// differ appends the differences of two JSON values, a there and b here, at a path of keys and names, "" for the whole.
func differ(path string, a, b any, out *[]string) {
	// Objects are compared key by key; a key that one of them lacks is absent there.
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if ok1 && ok2 {
		both := maps.Clone(x)
		maps.Copy(both, y)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			inner := k
			if path != "" {
				inner = path + "." + k
			}
			differ(inner, x[k], y[k], out)
		}
		return
	}
	// Lists of named objects are compared by name, so that a difference within one shows the name, not an index.
	if p, q := namesOf(a), namesOf(b); len(p)+len(q) > 0 {
		if !slices.Equal(p, q) {
			*out = append(*out, fmt.Sprintf("%s is %s there, %s here", path, cmp.Or(strings.Join(p, ", "), "empty"), cmp.Or(strings.Join(q, ", "), "empty")))
			return
		}
		for i, name := range p {
			differ(path+"."+name, a.([]any)[i], b.([]any)[i], out)
		}
		return
	}
	if s, t := text(a), text(b); s != t {
		if path == "" {
			path = "configuration"
		}
		if len(s) > longest || len(t) > longest {
			*out = append(*out, path+" differs")
			return
		}
		*out = append(*out, fmt.Sprintf("%s is %s there, %s here", path, s, t))
	}
}

// namesOf returns the names of a list of objects that have names, such as graphs, or nil for any other value.
func namesOf(v any) (names []string) {
	list, _ := v.([]any)
	for _, element := range list {
		object, _ := element.(map[string]any)
		name, ok := object["name"].(string)
		if !ok {
			return nil
		}
		names = append(names, name)
	}
	return names
}

func text(v any) string {
	if v == nil {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
