package train

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
)

// field is a flag for one field of a configuration. It keeps what was given until the preset,
// which it changes, is known.
type field struct {
	configuration.Field
	text  string // as the user wrote it; the default, for -h, if it is not given
	isSet bool
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
	f.text, f.isSet = text, true
	return f.Field.Set(new(configuration.Configuration), text)
}

// IsBoolFlag lets a flag stand without a value.
func (f *field) IsBoolFlag() bool { return f.Kind() == reflect.Bool }

// hyperparameters are a choice of hyperparameters: the user's flags, or a choice of the frontier.
type hyperparameters struct {
	preset, from string
	fields       []*field
}

func (h hyperparameters) anyChosen() bool {
	return h.preset != "" || h.from != "" || slices.ContainsFunc(h.fields, func(f *field) bool { return f.isSet })
}

// choiceOf returns a choice of the frontier, whose table has it as flags.
func choiceOf(text string) (hyperparameters, error) {
	h := hyperparameters{fields: fields()}
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		switch name := strings.TrimPrefix(words[i], "--"); name {
		case "preset":
			h.preset = words[i+1]
		case "from":
			h.from = words[i+1]
		default:
			if err := h.set(name, words[i+1]); err != nil {
				return h, err
			}
		}
	}
	return h, nil
}

// set chooses the value of a hyperparameter.
func (h hyperparameters) set(name, text string) error {
	i := slices.IndexFunc(h.fields, func(f *field) bool { return f.Name == name })
	if i < 0 {
		return fmt.Errorf("the frontier has the unknown flag --%s", name)
	}
	return h.fields[i].Set(text)
}

// configure returns a configuration with the fields that are set.
func (h hyperparameters) configure(c configuration.Configuration) (configuration.Configuration, error) {
	for _, f := range h.fields {
		if !f.isSet {
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
