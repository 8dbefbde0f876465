// Package overflow adds and multiplies integers, and reports whether the result is right: what Arrow needs of the
// module github.com/JohnCGriffin/overflow, whose place it takes.
//
// The original has no license, and so may not be distributed in a program. This module has nothing of it but the names,
// and go.mod of tagnet puts it in its place. Go follows a replace directive only in the module that it builds: a
// program that imports tagnet as a library builds with the original, unless its own go.mod replaces it too.
package overflow

import "math"

// Add returns a + b, and whether that is the sum.
func Add(a, b int) (int, bool) {
	sum, ok := Add64(int64(a), int64(b))
	return int(sum), ok && int64(int(sum)) == sum
}

// Mul returns a * b, and whether that is the product.
func Mul(a, b int) (int, bool) {
	product, ok := Mul64(int64(a), int64(b))
	return int(product), ok && int64(int(product)) == product
}

// Add64 returns a + b, and whether that is the sum.
func Add64(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum < a) == (b < 0)
}

// Mul64 returns a * b, and whether that is the product.
func Mul64(a, b int64) (int64, bool) {
	product := a * b
	return product, a == 0 || product/a == b && (a != -1 || b != math.MinInt64)
}
