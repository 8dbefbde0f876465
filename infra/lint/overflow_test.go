package lint

import (
	"math"
	"math/big"
	"os/exec"
	"strings"
	"testing"

	"github.com/JohnCGriffin/overflow"
)

// TestOverflowIsOurs checks that Arrow builds with infra/overflow: the original has no license.
func TestOverflowIsOurs(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/JohnCGriffin/overflow")
	command.Dir = top
	out, err := command.Output()
	if got := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(got, top) {
		t.Errorf("overflow is built from %s, error %v: go.mod has to replace it by infra/overflow", got, err)
	}
}

func TestOverflow(t *testing.T) {
	var edges []int64
	for _, n := range []int64{0, 1, 2, 3, math.MaxInt32, math.MinInt32, 3037000499, 3037000500, math.MaxInt64 / 2, math.MinInt64 / 2, math.MaxInt64,
		math.MinInt64} {
		edges = append(edges, n-1, n, n+1, -n)
	}
	for _, a := range edges {
		for _, b := range edges {
			sum, sumOK := overflow.Add64(a, b)
			product, productOK := overflow.Mul64(a, b)
			if sum != a+b || product != a*b {
				t.Errorf("%d and %d: sum %d, product %d", a, b, sum, product)
			}
			x, y := big.NewInt(a), big.NewInt(b)
			if want := new(big.Int).Add(x, y).IsInt64(); sumOK != want {
				t.Errorf("%d + %d: right %v, want %v", a, b, sumOK, want)
			}
			if want := new(big.Int).Mul(x, y).IsInt64(); productOK != want {
				t.Errorf("%d * %d: right %v, want %v", a, b, productOK, want)
			}
			for _, f := range []struct {
				of   func(a, b int) (int, bool)
				want *big.Int
			}{{overflow.Add, new(big.Int).Add(big.NewInt(int64(int(a))), big.NewInt(int64(int(b))))},
				{overflow.Mul, new(big.Int).Mul(big.NewInt(int64(int(a))), big.NewInt(int64(int(b))))}} {
				fits := f.want.IsInt64() && int64(int(f.want.Int64())) == f.want.Int64()
				if got, ok := f.of(int(a), int(b)); ok != fits || ok && int64(got) != f.want.Int64() {
					t.Errorf("%d and %d as int: %d, %v, want %s, %v", a, b, got, ok, f.want, fits)
				}
			}
		}
	}
}
