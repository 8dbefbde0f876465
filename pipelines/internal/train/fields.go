package train

import (
	"fmt"
	"reflect"

	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
)

// field is a flag for one field of a configuration. It keeps what was given until the preset,
// which it changes, is known.
type field struct {
	configuration.Field
	text  string // as the user wrote it; the default, for -h, if it is not given
	given bool
}

// fields makes a flag for every field of a configuration that has one.
func fields() []*field {
	var list []*field
	for _, f := range configuration.Fields() {
		if f.IsFlag() {
			list = append(list, &field{Field: f, text: fmt.Sprint(f.Default)})
		}
	}
	return list
}

// String, Set and IsBoolFlag make a flag.Value of a field.
func (f *field) String() string { return f.text }

// Set takes a value of the field's type.
func (f *field) Set(text string) error {
	f.text, f.given = text, true
	return f.Field.Set(new(configuration.Configuration), text)
}

// IsBoolFlag lets a flag stand without a value.
func (f *field) IsBoolFlag() bool { return f.Kind() == reflect.Bool }

// configure returns a configuration with the fields that were given.
func configure(c configuration.Configuration, fields []*field) (configuration.Configuration, error) {
	for _, f := range fields {
		if !f.given {
			continue
		}
		if err := f.Field.Set(&c, f.text); err != nil {
			return c, command.Usage("--%s: %v", f.Name, err)
		}
	}
	if c.ReachNegatives > 0 && c.Reach == 0 {
		return c, command.Usage("--reach_negatives draws among the entities of a reach: add --reach, or give --reach_negatives 0")
	}
	c = c.Normalized()
	return c, command.CheckConfiguration(c)
}
