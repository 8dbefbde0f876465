package configuration

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field is a hyperparameter: a field of a Configuration.
type Field struct {
	// Name is the key in JSON, and the name of the flag.
	Name string
	// Kind is reflect.Int, Float64, Bool or String.
	Kind  reflect.Kind
	index int
}

// Fields returns all hyperparameters, in the order of a Configuration.
func Fields() []Field {
	var list []Field
	for f := range reflect.TypeFor[Configuration]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if slices.Contains([]string{"relations", "relation_layers", "architecture"}, name) {
			continue // weights decide it
		}
		list = append(list, Field{name, f.Type.Kind(), f.Index[0]})
	}
	return list
}

// FieldNamed returns the hyperparameter with a name.
func FieldNamed(name string) (f Field, known bool) {
	for _, f := range Fields() {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Of returns the value of the hyperparameter in a configuration.
func (f Field) Of(c Configuration) any { return reflect.ValueOf(c).Field(f.index).Interface() }

// Wants describes the values that Encode accepts.
func (f Field) Wants() string {
	return map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number", reflect.Bool: "true or false", reflect.String: "a text"}[f.Kind]
}

// Encode returns a value as JSON from its text on a command line. An error describes the values that are accepted.
func (f Field) Encode(text string) (json.RawMessage, error) {
	var value any = text
	var err error
	switch f.Kind {
	case reflect.Int:
		value, err = strconv.Atoi(text)
	case reflect.Float64:
		value, err = strconv.ParseFloat(text, 64)
	case reflect.Bool:
		value, err = strconv.ParseBool(text)
	}
	if err != nil {
		return nil, errors.New("want " + f.Wants())
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, errors.New("want a finite number")
	}
	return encoded, nil
}
