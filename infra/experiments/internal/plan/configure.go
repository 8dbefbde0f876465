package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/configuration"
)

// The flags of train that decide the result besides those of the configuration.
const (
	validateEvery = "validate_every"
	validLimit    = "valid_limit"
)

// FlagNames returns the names of the flags of train that an experiment can set.
func FlagNames() []string {
	var list []string
	for _, f := range configuration.Fields() {
		list = append(list, f.Name)
	}
	slices.Sort(list)
	return append(list, validateEvery, validLimit)
}

// Boolean reports whether a flag of train is true or false.
func Boolean(flag string) bool {
	f, known := configuration.FieldNamed(flag)
	return known && f.Kind() == reflect.Bool
}

// configure returns the configuration and the validation that train derives from a preset and flags.
func configure(ctx context.Context, preset string, flags map[string]string) (configuration.Configuration, metrics.Validation, error) {
	c, validation := configuration.Default(), metrics.Validation{Every: 1}
	if preset != "" {
		var err error
		if c, err = configuration.OpenPreset(ctx, preset); err != nil {
			return c, validation, err
		}
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		value := flags[flag]
		want := "a whole number"
		var err error
		switch field, known := configuration.FieldNamed(flag); {
		case flag == validateEvery:
			validation.Every, err = strconv.Atoi(value)
		case flag == validLimit:
			validation.Limit, err = strconv.ParseInt(value, 10, 64)
		case flag == "seed":
			return c, validation, errors.New("seeds are no hyperparameter: write --seeds 1..3, or \"seeds\": [1, 2, 3] in a file")
		case !known:
			return c, validation, fmt.Errorf("train has no flag --%s that an experiment can set; the closest are %s", flag, strings.Join(names.Closest(flag, FlagNames(), 3), ", "))
		default:
			want, err = field.Wants(), field.Set(&c, value)
		}
		if err != nil {
			return c, validation, fmt.Errorf("--%s %q is not %s", flag, value, want)
		}
	}
	c = c.Normalized()
	if err := c.Validate(); err != nil {
		return c, validation, fmt.Errorf("--%s", strings.ReplaceAll(err.Error(), "\n", "; --"))
	}
	if validation.Every < 1 || validation.Limit < 0 {
		return c, validation, fmt.Errorf("--%s is %d and --%s %d: want 1 or more, and 0 or more", validateEvery, validation.Every, validLimit, validation.Limit)
	}
	return c, validation, nil
}
