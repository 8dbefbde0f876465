package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachShape yields shapes with every length from 0 to 300 for each of n, k and m, and the shapes of the model.
func eachShape(yield func(n, k, m int) bool) {
	for i := range 301 {
		if !yield(i, 5, 33) || !yield(7, i, 48) || !yield(13, 9, i) {
			return
		}
	}
	for _, s := range [][3]int{{50, 160, 32}, {50, 32, 160}, {29, 64, 64}, {1, 320, 64}, {130, 31, 17}, {200, 160, 32}} {
		if !yield(s[0], s[1], s[2]) {
			return
		}
	}
}

// product adds a b to c, and the sizes of the terms to size; a is [n, k] with element (i, p) at index(i, p).
func product(c, size, a, b []float64, n, k, m int, index func(i, p int) int) {
	for i := range n {
		for p := range k {
			x := a[index(i, p)]
			for j := range m {
				c[i*m+j] += x * b[p*m+j]
				size[i*m+j] += math.Abs(x * b[p*m+j])
			}
		}
	}
}

// compareProduct compares c = a b and c += a b, of inner terms, with the product in float64.
func compareProduct(t *testing.T, what string, a, b, start []float32, n, inner, m int, index func(i, p int) int, multiply func(c []float32, add bool)) {
	t.Helper()
	for _, add := range []bool{false, true} {
		c, check := guarded(n * m)
		copy(c, start)
		want, size := make([]float64, n*m), make([]float64, n*m)
		if add {
			want = widen(start)
		}
		multiply(c, add)
		what := fmt.Sprintf("%s, [%d,%d]x[%d,%d], add %v", what, n, inner, inner, m, add)
		check(t, what)
		product(want, size, widen(a), widen(b), n, inner, m, index)
		compare(t, what, c, want, func(i int) float64 { return 4e-6 * (size[i] + 1) })
	}
}

func TestMultiply(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(13, 14))
		eachShape(func(n, inner, m int) bool {
			a, b, start := normal(rng, n*inner), normal(rng, inner*m), normal(rng, n*m)
			compareProduct(t, "plain", a, b, start, n, inner, m, func(i, p int) int { return i*inner + p }, func(c []float32, add bool) {
				k.Multiply(c, a, b, Product{Rows: n, Inner: inner, Columns: m, Add: add})
			})
			return true
		})
	})
}

func TestMultiplyTransposed(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(15, 16))
		eachShape(func(inner, n, m int) bool { // so that the long length is summed over
			a, b, start := normal(rng, inner*n), normal(rng, inner*m), normal(rng, n*m)
			compareProduct(t, "transposed", a, b, start, n, inner, m, func(i, p int) int { return p*n + i }, func(c []float32, add bool) {
				k.MultiplyTransposed(c, a, b, Product{Rows: inner, Inner: n, Columns: m, Add: add})
			})
			return true
		})
	})
}

// TestMultiplyRowsOfWiderTables checks that they give the bits of the product of rows alone.
func TestMultiplyRowsOfWiderTables(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(21, 22))
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {7, 32, 160}, {40, 32, 160}, {70, 31, 33}, {130, 17, 50}, {0, 9, 9}, {9, 0, 9}, {9, 9, 0}} {
			n, inner, m := s[0], s[1], s[2]
			a, b, d := normal(rng, n*inner), normal(rng, inner*m), normal(rng, n*m)
			const beyond = 3
			wide := slices.Repeat([]float32{float32(math.NaN())}, n*(inner+beyond))
			for i := range n {
				copy(wide[i*(inner+beyond):], a[i*inner:(i+1)*inner])
			}
			for _, add := range []bool{false, true} {
				start, startT := normal(rng, n*m), normal(rng, inner*m)
				want, wantT := slices.Clone(start), slices.Clone(startT)
				k.Multiply(want, a, b, Product{Rows: n, Inner: inner, Columns: m, Add: add})
				k.MultiplyTransposed(wantT, a, d, Product{Rows: n, Inner: inner, Columns: m, Add: add})
				rows, rowsT := slices.Clone(start), slices.Clone(startT)
				k.Multiply(rows, wide, b, Product{Rows: n, Inner: inner, Columns: m, Stride: inner + beyond, Add: add})
				k.MultiplyTransposed(rowsT, wide, d, Product{Rows: n, Inner: inner, Columns: m, Stride: inner + beyond, Add: add})
				if !slices.Equal(rows, want) || !slices.Equal(rowsT, wantT) {
					t.Errorf("%v, add %v: longer rows change the product", s, add)
				}
			}
		}
	})
}

// TestMultiplyDoesNotDependOnBlocks checks that a row's bits do not depend on the number of rows, and a
// transposed product's not on how its rows are divided among calls.
func TestMultiplyDoesNotDependOnBlocks(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(17, 18))
		const n, inner = 100, 160
		for _, m := range []int{1, 7, 16, 32, 33, 64, 160} {
			a, b := normal(rng, n*inner), normal(rng, inner*m)
			whole, blocks := make([]float32, n*m), make([]float32, n*m)
			k.Multiply(whole, a, b, Product{Rows: n, Inner: inner, Columns: m})
			d := normal(rng, n*m)
			sum, pieces := normal(rng, inner*m), make([]float32, inner*m)
			k.MultiplyTransposed(sum, a, d, Product{Rows: n, Inner: inner, Columns: m})
			for at, length := 0, 1; at < n; at, length = at+length, length%13+1 {
				length = min(length, n-at)
				// blocks are still 0
				k.Multiply(blocks[at*m:(at+length)*m], a[at*inner:], b, Product{Rows: length, Inner: inner, Columns: m, Add: length%2 == 0})
				k.MultiplyTransposed(pieces, a[at*inner:], d[at*m:], Product{Rows: length, Inner: inner, Columns: m, Add: true})
			}
			if !slices.Equal(whole, blocks) {
				t.Fatalf("m = %d: rows depend on what they are multiplied with", m)
			}
			if !slices.Equal(sum, pieces) {
				t.Fatalf("m = %d: a transposed product depends on how its rows are divided", m)
			}
		}
	})
}

func TestMultiplyNotANumber(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(19, 20))
		const n, inner, m = 37, 19, 37 // more rows than a variant treats as few
		a, b := normal(rng, n*inner), normal(rng, inner*m)
		a[3*inner+4], b[5*m+36], a[16*inner] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
		a[2*inner+5] = 0 // meets the infinity in b
		c := make([]float32, n*m)
		want, size := make([]float64, n*m), make([]float64, n*m)
		k.Multiply(c, a, b, Product{Rows: n, Inner: inner, Columns: m})
		product(want, size, widen(a), widen(b), n, inner, m, func(i, p int) int { return i*inner + p })
		compare(t, "not a number", c, want, func(i int) float64 { return 1e-4 })
		if c[2*m+36] == c[2*m+36] {
			t.Fatal("0 times infinity is a number")
		}
	})
}
