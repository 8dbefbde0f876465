package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/names"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
)

// The flags of train that decide the result besides those of the configuration.
const (
	validateEvery = "validate_every"
	validLimit    = "valid_limit"
)

// FlagNames returns the names of the flags of train that an experiment can set, and Boolean reports whether one may stand without a value.
func FlagNames() []string {
	return append(slices.Sorted(maps.Keys(kinds())), validateEvery, validLimit)
}

// Boolean reports whether a flag of train is true or false.
func Boolean(flag string) bool { return kinds()[flag] == reflect.Bool }

// kinds returns the kinds of the fields of a configuration by the names of their flags.
func kinds() map[string]reflect.Kind {
	byName := map[string]reflect.Kind{}
	of := reflect.TypeFor[configuration.Configuration]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		byName[name] = of.Field(i).Type.Kind()
	}
	return byName
}

// configure returns what train makes of a preset and flags.
func configure(ctx context.Context, preset string, flags map[string]string) (configuration.Configuration, checkpoint.Validation, error) {
	c, validation := configuration.Default(), checkpoint.Validation{Every: 1}
	if preset != "" {
		var err error
		if c, err = configuration.OpenPreset(ctx, preset); err != nil {
			return c, validation, err
		}
	}
	kinds := kinds()
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		value := flags[flag]
		var err error
		switch kind, known := kinds[flag]; {
		case flag == validateEvery:
			validation.Every, err = strconv.Atoi(value)
		case flag == validLimit:
			validation.Limit, err = strconv.ParseInt(value, 10, 64)
		case flag == "seed":
			return c, validation, errors.New("seeds are no hyperparameter: write --seeds 1..3, or \"seeds\": [1, 2, 3] in a file")
		case !known:
			return c, validation, fmt.Errorf("train has no flag --%s that an experiment can set; the closest are %s", flag, strings.Join(names.Closest(flag, FlagNames(), 3), ", "))
		default:
			err = set(&c, flag, kind, value)
		}
		if err != nil {
			return c, validation, fmt.Errorf("--%s %q is not %s", flag, value, cmp.Or(wanted[kinds[flag]], "a whole number"))
		}
	}
	if err := c.Validate(); err != nil {
		return c, validation, fmt.Errorf("--%s", strings.ReplaceAll(err.Error(), "\n", "; --"))
	}
	if validation.Every < 1 || validation.Limit < 0 {
		return c, validation, fmt.Errorf("--%s is %d and --%s %d: want 1 or more, and 0 or more", validateEvery, validation.Every, validLimit, validation.Limit)
	}
	return c, validation, nil
}

var wanted = map[reflect.Kind]string{reflect.Float64: "a number", reflect.Bool: "true or false"}

// set sets a field of a configuration from the value of its flag.
func set(c *configuration.Configuration, field string, kind reflect.Kind, text string) error {
	var value any = text
	var err error
	switch kind {
	case reflect.Int:
		value, err = strconv.Atoi(text)
	case reflect.Float64:
		value, err = strconv.ParseFloat(text, 64)
	case reflect.Bool:
		value, err = strconv.ParseBool(text)
	}
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(map[string]any{field: value})
	if err != nil {
		return err // infinity or NaN
	}
	return c.Parse(encoded)
}
