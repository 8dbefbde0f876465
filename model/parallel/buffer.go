package parallel

import "slices"

// Resize returns a slice of n entries whose values are arbitrary. It reuses s where s is large enough.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Extend returns s with n entries, the first of which keep their values. It grows like append.
func Extend[T any](s []T, n int) []T {
	kept := min(len(s), n)
	return slices.Grow(s[:kept], n-kept)[:n]
}

// Indices returns 0..n-1.
func Indices[I int | int32](n int) []I {
	all := make([]I, n)
	for i := range all {
		all[i] = I(i)
	}
	return all
}

// Cleared returns a slice of n zeros. It reuses s where s is large enough.
func Cleared[T any](s []T, n int) []T {
	s = Resize(s, n)
	clear(s)
	return s
}
