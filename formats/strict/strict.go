package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/names"
)

// Error is a mistake in a document.
type Error struct {
	// File is the document's name.
	File string
	// Line and Column count from 1; a column is a byte of its line.
	Line, Column int
	// Message describes the mistake.
	Message string
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Decode sets *value from JSON. Keys match the json tags exactly, upper and lower case included. A field whose key is
// missing from the document keeps its value. A type with an UnmarshalJSON method, json.RawMessage included, accepts any
// JSON value. The fields of an embedded struct are decoded as fields of the struct that embeds it. Every error is an
// *Error that names the file.
func Decode[T any](file string, text []byte, value *T) error {
	err := json.Unmarshal(text, new(json.RawMessage)) // the syntax
	if err == nil {
		w := walk{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
		w.decoder.UseNumber()
		err = w.value(reflect.TypeFor[T](), "")
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	var at mistake
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &at):
	case errors.As(err, &syntax):
		at = mistake{int(syntax.Offset) - 1, strings.TrimPrefix(syntax.Error(), "json: ")}
	case errors.As(err, &kind): // a number that does not fit; the walk finds all others
		at = mistake{int(kind.Offset) - 1, fmt.Sprintf("%s: %s is out of range", kind.Field, kind.Value)}
	default:
		at = mistake{0, err.Error()}
	}
	line, column := Position(text, at.offset)
	return &Error{File: file, Line: line, Column: column, Message: at.message}
}

// Position returns the line and the column, from 1, of a byte of a text.
func Position(text []byte, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

type mistake struct {
	offset  int
	message string
}

func (m mistake) Error() string { return m.message }

// walk compares the tokens of a document with a type.
type walk struct {
	text    []byte
	decoder *json.Decoder
}

// skip returns the offset of the next token.
func (w walk) skip() int {
	at := int(w.decoder.InputOffset())
	for at < len(w.text) && strings.IndexByte(" \t\r\n,:", w.text[at]) >= 0 {
		at++
	}
	return at
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value reads a value and checks that it fits the type; path names the value in errors.
func (w walk) value(goType reflect.Type, path string) error {
	if reflect.PointerTo(goType).Implements(unmarshaler) {
		return w.method(goType, path)
	}
	if goType.Kind() == reflect.Pointer {
		return w.value(goType.Elem(), path)
	}
	start := w.skip()
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	// The token decides what was written, the type what is wanted.
	got, want := kindOf(token), kindFor(goType)
	if number, ok := token.(json.Number); ok && want == wholeNumber {
		if _, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
			got = wholeNumber
		} else {
			got = number.String()
		}
	}
	if got != want {
		return mistake{start, fmt.Sprintf("%s%s instead of %s", prefix(path), got, want)}
	}
	// Members and elements are checked the same way.
	switch token {
	case json.Delim('{'):
		err = w.object(goType, path)
	case json.Delim('['):
		for w.decoder.More() && err == nil {
			err = w.value(goType.Elem(), path)
		}
	default:
		return nil
	}
	if err == nil {
		_, err = w.decoder.Token()
	}
	return err
}

// method reads a value of a type with an UnmarshalJSON method, to locate its error.
func (w walk) method(goType reflect.Type, path string) error {
	start := w.skip()
	var text json.RawMessage
	if err := w.decoder.Decode(&text); err != nil {
		return err
	}
	if err := reflect.New(goType).Interface().(json.Unmarshaler).UnmarshalJSON(text); err != nil {
		return mistake{start, prefix(path) + err.Error()}
	}
	return nil
}

// object checks the members of an object for a type; path is its place in the text, "" for the whole.
func (w walk) object(goType reflect.Type, path string) error {
	seen := map[string]bool{}
	for w.decoder.More() {
		start := w.skip()
		token, err := w.decoder.Token()
		if err != nil {
			return err
		}
		key := token.(string)
		if seen[key] {
			return mistake{start, fmt.Sprintf("%q stands twice", key)}
		}
		seen[key] = true
		child := strings.TrimPrefix(path+"."+key, ".")
		if goType.Kind() == reflect.Map {
			err = w.value(goType.Elem(), child)
		} else if field, known := fields(goType)[key]; known {
			err = w.value(field, child)
		} else {
			return mistake{start, unknown(key, goType)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fields returns the types of the fields of a struct and its embedded structs by their JSON keys.
func fields(goType reflect.Type) map[string]reflect.Type {
	byName := map[string]reflect.Type{}
	for field := range goType.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(byName, fields(field.Type))
		case name != "" && name != "-":
			byName[name] = field.Type
		}
	}
	return byName
}

func unknown(key string, goType reflect.Type) string {
	known := slices.Sorted(maps.Keys(fields(goType)))
	return fmt.Sprintf("unknown key %q; the closest are %s", key, strings.Join(names.Closest(key, known, 3), ", "))
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

const wholeNumber = "a whole number"

// kindOf names the kind of value that a token begins, for messages.
func kindOf(token json.Token) string {
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return "an object"
		}
		return "a list"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}

// kindFor names the kind of value that a type is read from, for messages.
func kindFor(goType reflect.Type) string {
	switch goType.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return wholeNumber
	case reflect.Float64:
		return "a number"
	}
	panic(fmt.Sprintf("strict: %s is not supported", goType))
}
