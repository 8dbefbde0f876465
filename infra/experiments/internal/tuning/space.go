package tuning

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/names"
	"tagnet/model/configuration"
	"tagnet/model/random"
)

// Space holds the ranges of the hyperparameters of a search, by their names in a configuration.
type Space map[string]Range

// Range describes the values of one hyperparameter. Exactly one of its fields is set.
type Range struct {
	// LogUniform are the bounds of a number whose logarithm is drawn uniformly, as suits a learning rate.
	LogUniform []float64 `json:"log_uniform,omitempty"`
	// Uniform are the bounds of a number.
	Uniform []float64 `json:"uniform,omitempty"`
	// Integers are the least and the greatest of some whole numbers.
	Integers []int `json:"integers,omitempty"`
	// Choices are the values themselves.
	Choices []json.RawMessage `json:"choices,omitempty"`
}

// values holds the drawn hyperparameters of a candidate, as JSON.
type values map[string]json.RawMessage

// epochs is the hyperparameter that the rungs decide.
const epochs = "epochs"

// check returns an error for a range that its hyperparameter cannot have, and the name of that hyperparameter.
func (s Space) check() (field string, err error) {
	kinds := map[string]reflect.Kind{}
	for _, f := range configuration.Fields() {
		kinds[f.Name] = f.Kind()
	}
	for _, field := range slices.Sorted(maps.Keys(s)) {
		kind, known := kinds[field]
		switch {
		case !known:
			return field, fmt.Errorf("unknown hyperparameter %q; the closest are %s", field, strings.Join(names.Closest(field, slices.Sorted(maps.Keys(kinds)), 3), ", "))
		case field == epochs:
			return field, errors.New("epochs: the last rung decides them")
		}
		if err := s[field].check(kind); err != nil {
			return field, fmt.Errorf("%s: %w", field, err)
		}
		for _, value := range s[field].extremes() {
			c, err := values{field: value}.over(configuration.Default()) // over which each valid value of a field is valid
			if err != nil {
				return field, fmt.Errorf("%s cannot be %s", field, value)
			}
			for _, v := range c.Violations() {
				if v.Field == field {
					return field, v
				}
			}
		}
	}
	return "", nil
}

// check returns an error for bounds that are no range of a kind of number.
func (r Range) check(kind reflect.Kind) error {
	given := 0
	for _, n := range []int{len(r.LogUniform), len(r.Uniform), len(r.Integers), len(r.Choices)} {
		given += min(n, 1)
	}
	switch {
	case given != 1:
		return errors.New("want one of log_uniform, uniform, integers and choices")
	case len(r.Choices) > 0:
		return nil
	case len(r.Integers) > 0 && kind != reflect.Int, len(r.Integers) == 0 && kind != reflect.Float64:
		return fmt.Errorf("%s: want %s", describe(kind), map[reflect.Kind]string{reflect.Int: "integers or choices", reflect.Float64: "uniform, log_uniform or choices"}[kind])
	case len(r.Integers) > 0 && (len(r.Integers) != 2 || r.Integers[0] > r.Integers[1]):
		return errors.New("integers: want the least and the greatest")
	case len(r.Uniform) > 0 && (len(r.Uniform) != 2 || r.Uniform[0] >= r.Uniform[1]):
		return errors.New("uniform: want two bounds, the smaller one first")
	case len(r.LogUniform) > 0 && (len(r.LogUniform) != 2 || r.LogUniform[0] >= r.LogUniform[1] || r.LogUniform[0] <= 0):
		return errors.New("log_uniform: want two bounds above 0, the smaller one first")
	}
	return nil
}

// describe returns a sentence about the values of a kind of hyperparameter.
func describe(kind reflect.Kind) string {
	switch kind {
	case reflect.Int:
		return "it is a whole number"
	case reflect.Float64:
		return "it is a number"
	}
	return "it is no number, and has choices"
}

// extremes returns the bounds or choices: if they are valid, all values of the range are.
func (r Range) extremes() []json.RawMessage {
	list := slices.Clone(r.Choices)
	for _, bound := range append(slices.Clone(r.LogUniform), r.Uniform...) {
		list = append(list, number(bound))
	}
	for _, bound := range r.Integers {
		list = append(list, json.RawMessage(strconv.Itoa(bound)))
	}
	return list
}

// number returns a number as JSON with three significant digits: more would mean nothing, people read it, and
// the last bits of an exponential depend on the processor.
func number(value float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(value, 'g', 3, 64))
}

// sample draws values. They depend on the seed, the candidate's number, the attempt, and the name of each
// hyperparameter, so that a hyperparameter that is added to a space leaves the draws of the others.
func (s Space) sample(seed int64, number, attempt int) values {
	drawn := values{}
	for field, r := range s {
		name := fnv.New64a()
		name.Write([]byte(field))
		drawn[field] = r.sample(rand.New(rand.NewPCG(random.Seed(uint64(seed), uint64(number), uint64(attempt)), name.Sum64())))
	}
	return drawn
}

func (r Range) sample(from *rand.Rand) json.RawMessage {
	switch {
	case len(r.Choices) > 0:
		return r.Choices[from.IntN(len(r.Choices))]
	case len(r.Integers) > 0:
		return json.RawMessage(strconv.Itoa(r.Integers[0] + from.IntN(r.Integers[1]-r.Integers[0]+1)))
	case len(r.Uniform) > 0:
		return number(r.Uniform[0] + from.Float64()*(r.Uniform[1]-r.Uniform[0]))
	}
	low, high := math.Log(r.LogUniform[0]), math.Log(r.LogUniform[1])
	return number(math.Exp(low + from.Float64()*(high-low)))
}

// over returns a configuration with some values of its own.
func (v values) over(c configuration.Configuration) (configuration.Configuration, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return c, err
	}
	return c, c.Parse(text)
}
