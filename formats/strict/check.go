package strict

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
)

// Checked is a value that a file holds. Check returns an error, which names the key, for a content that this
// program never writes.
type Checked interface{ Check() error }

// First returns the first of some errors that is not nil.
func First(errs ...error) error { return cmp.Or(errs...) }

// Count returns an error if a number is negative.
func Count[N int | int32 | int64](key string, n N) error {
	if n < 0 {
		return fmt.Errorf("%s is %d, want 0 or more", key, n)
	}
	return nil
}

// Between returns an error unless a number is from least to most.
func Between[N int | int32 | int64](key string, n, least, most N) error {
	if n < least || n > most {
		return fmt.Errorf("%s is %d, want %d to %d", key, n, least, most)
	}
	return nil
}

// Share returns an error unless a number is from 0 to 1.
func Share(key string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("%s is %v, want 0 to 1", key, x)
	}
	return nil
}

// AtLeastZero returns an error unless a number is finite and not negative.
func AtLeastZero(key string, x float64) error {
	if !(x >= 0 && x <= math.MaxFloat64) {
		return fmt.Errorf("%s is %v, want 0 or more", key, x)
	}
	return nil
}

// Finite returns an error if a number is NaN or infinite.
func Finite(key string, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%s is %v, want a finite number", key, x)
	}
	return nil
}

// Numbers returns an error if one of some numbers is NaN or infinite.
func Numbers(key string, data []float32) error {
	for i, x := range data {
		if x-x != 0 {
			return fmt.Errorf("%s[%d] is %v, want a finite number", key, i, x)
		}
	}
	return nil
}

// Optional returns the error of check for a value, none for nil.
func Optional[V any](key string, v *V, check func(key string, v V) error) error {
	if v == nil {
		return nil
	}
	return check(key, *v)
}

// Each returns the error of check for the first key, in order, whose value has one.
func Each[V any](key string, values map[string]V, check func(key string, v V) error) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := check(key+"."+name, values[name]); err != nil {
			return err
		}
	}
	return nil
}

// Counts returns the error of Count for the first key, in order, whose value has one.
func Counts[N int | int32 | int64](key string, counts map[string]N) error {
	return Each(key, counts, Count)
}

// Value returns the error of a value below a key.
func Value[V Checked](key string, v V) error {
	if err := v.Check(); err != nil {
		return fmt.Errorf("%s.%w", key, err)
	}
	return nil
}

// List returns the error of Value for the first element that has one.
func List[V Checked](key string, values []V) error {
	for i, v := range values {
		if err := Value(fmt.Sprintf("%s[%d]", key, i), v); err != nil {
			return err
		}
	}
	return nil
}

// FileName returns an error unless a path, with slashes, stays in or below the folder that it is relative to.
func FileName(key, name string) error {
	if name != path.Clean(name) || path.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "../") || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("%s is %q, want the name of a file in the folder", key, name)
	}
	return nil
}
