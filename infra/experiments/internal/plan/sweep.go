package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// MostValues is the most values that a range may stand for.
const MostValues = 1000

// Values reads a list of values as on a command line: values and ranges of whole numbers, separated by commas, such as 0..5 or 16,32.
func Values(text string) ([]Value, error) {
	var all []Value
	for _, word := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(word, "..")
		if !isRange {
			if word == "" {
				return nil, fmt.Errorf("%q has an empty value", text)
			}
			all = append(all, Value(word))
			continue
		}
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		switch {
		case err != nil || err2 != nil || from > to:
			return nil, fmt.Errorf("%q is not a range of whole numbers such as 0..5", word)
		case to-from >= MostValues:
			return nil, fmt.Errorf("%s has more than %d values", word, MostValues)
		}
		for n := from; n <= to; n++ {
			all = append(all, Value(strconv.Itoa(n)))
		}
	}
	return all, nil
}

// Seeds reads a list of seeds: numbers and ranges, as Values.
func Seeds(text string) ([]int64, error) {
	values, err := Values(text)
	if err != nil {
		return nil, err
	}
	seeds := make([]int64, len(values))
	for i, v := range values {
		if seeds[i], err = strconv.ParseInt(string(v), 10, 64); err != nil {
			return nil, fmt.Errorf("the seed %q is not a whole number", v)
		}
	}
	return seeds, nil
}

// Vary reads FLAG=VALUES.
func Vary(text string) (flag string, values []Value, err error) {
	flag, list, ok := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if !ok {
		return "", nil, fmt.Errorf("%q lacks its values: write FLAG=VALUES, such as delta=0..5", text)
	}
	values, err = Values(list)
	return flag, values, err
}
