package interpreter

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"tagnet/model/engine/device"
)

func load(t testing.TB, d *Device, ptx, name string) device.Kernel {
	t.Helper()
	kernels, err := d.Load(ptx, name)
	if err != nil {
		t.Fatal(err)
	}
	return kernels[0]
}

// cleared returns memory that is 0.
func cleared(t testing.TB, d *Device, bytes int) device.Pointer {
	t.Helper()
	p, err := d.Allocate(int64(bytes))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Clear(p, int64(bytes)); err != nil {
		t.Fatal(err)
	}
	return p
}

func download[T any](t testing.TB, d *Device, p device.Pointer, n int) []T {
	t.Helper()
	values := make([]T, n)
	if err := d.CopyOut(device.Bytes(values), p); err != nil {
		t.Fatal(err)
	}
	return values
}

func equalBits(t *testing.T, name string, results int, got, want []uint32) {
	t.Helper()
	wrong := 0
	for i := range want {
		if got[i] != want[i] {
			if wrong++; wrong < 10 {
				t.Errorf("%s: result %d of thread %d: %#x, want %#x", name, i%results, i/results, got[i], want[i])
			}
		}
	}
}

var edges = []int32{0, 1, -1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 256, 65535, 65536, -32768, math.MaxInt32, math.MinInt32, math.MinInt32 + 1, 0x12345678, -0x12345678}

// pairs returns all pairs of some values and random ones.
func pairs[T any](values []T, random func(r *rand.Rand) T) (x, y []T) {
	for _, a := range values {
		for _, b := range values {
			x, y = append(x, a), append(y, b)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		x, y = append(x, random(r)), append(y, random(r))
	}
	return x, y
}

func TestIntegersAsGo(t *testing.T) {
	t.Parallel()
	const results = 24
	x, y := pairs(edges, func(r *rand.Rand) int32 { return int32(r.Uint32()) >> r.IntN(32) })
	want := make([]uint32, 0, results*len(x))
	for i := range x {
		want = append(want, integersInGo(x[i], y[i])...)
	}
	d := New(Seed(1))
	out := cleared(t, d, 4*len(want))
	if err := d.Launch(load(t, d, readPTX(t, "integers"), "integers"), (len(x)+127)/128, 128, int32(len(x)), upload(t, d, x), upload(t, d, y), out); err != nil {
		t.Fatal(err)
	}
	equalBits(t, "integers", results, download[uint32](t, d, out, len(want)), want)
}

func integersInGo(a, b int32) []uint32 {
	u, v := uint32(a), uint32(b)
	wide := int64(uint64(u)<<32 | uint64(v))
	o := make([]uint32, 24)
	o[0] = uint32(a / (b | 1))
	o[1] = uint32(a % (b | 1))
	o[2] = u / (v | 1)
	o[3] = u % (v | 1)
	first := func(x uint32) uint32 { // of the bits set, from 1
		if x == 0 {
			return 0
		}
		return uint32(bits.TrailingZeros32(x) + 1)
	}
	o[4] = uint32(bits.OnesCount32(u)) | uint32(bits.LeadingZeros32(v))<<8 | first(u)<<16 | bits.Reverse32(v)<<24
	all := [8]uint32{u & 255, u >> 8 & 255, u >> 16 & 255, u >> 24, v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24}
	o[5] = all[5] | all[0]<<8 | all[3]<<16 | all[7]<<24
	both := uint64(v)<<32 | uint64(u)
	o[6] = uint32(both<<(v&31)>>32) ^ uint32(both>>min(u&63, 32))
	o[7] = uint32(int64(a) * int64(b) >> 32)
	o[8] = uint32(uint64(u) * uint64(v) >> 32)
	distance := int64(a) - int64(b)
	o[9] = uint32(max(distance, -distance)) + u
	q := wide / int64(a|1)
	o[10], o[11] = uint32(q), uint32(q>>32)
	r := uint64(wide) % (uint64(v) + 1)
	o[12] = uint32(r) ^ uint32(r>>32)
	o[13] = uint32(int32(int16(a))*int32(int16(b)) + int32(int8(a>>3)) - int32(uint8(b)))
	o[14] = uint32(min(a, b)) ^ (max(u, v) + uint32(max(a, -a)))
	table := [8]uint32{3, 1, 4, 1, 5, 9, 2, 6}
	o[15] = table[u&7] + table[v>>29]
	o[16] = []uint32{v + 1, v * 3, v ^ 5, v >> 2, v & 77, v | 99, ^v, -v, 7}[u%9]
	var local [16]uint32
	for j := range int32(16) {
		local[(j*5+a)&15] = uint32(j) * v
	}
	o[17] = local[u&15] + local[v&15]*3
	o[18] = uint32(uint64(u)*uint64(v)>>17) + uint32(int64(a)*int64(b)>>13)
	if a < b && u > v || a == 0 && b != 3 {
		o[19] = uint32(a >> (v & 31))
	} else {
		o[19] = u << (v & 31)
	}
	for i := range 4 {
		o[20] |= (all[i] + all[i+4]) & 255 << (8 * i)
	}
	o[21] = uint32(int32(float64(a)*0.5)) + uint32(int32(min(float64(float32(b)), math.MaxInt32)))
	if math.Float32frombits(u) < math.Float32frombits(v) {
		o[22] = 1
	}
	for z := u; z != 0; z &= z - 1 {
		o[23] += first(z)
	}
	return o
}

var edgeFloats = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-45, -1e-40, 1.1754944e-38, 3.4028235e38, -3.4028235e38, 2147483648, 4294967296, 1e19, -1e19,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 8388609, 16777217, 0.1}

func TestFloatsAsGo(t *testing.T) {
	t.Parallel()
	const results = 16
	x, y := pairs(edgeFloats, func(r *rand.Rand) float32 { return float32(r.NormFloat64() * math.Exp(20*r.NormFloat64())) })
	want := make([]uint32, 0, results*len(x))
	for i := range x {
		for _, v := range floatsInGo(x[i], y[i]) {
			want = append(want, uint32(bits32(v)))
		}
	}
	d := New(Seed(1))
	out := cleared(t, d, 4*len(want))
	if err := d.Launch(load(t, d, readPTX(t, "floats"), "floats"), (len(x)+127)/128, 128, int32(len(x)), upload(t, d, x), upload(t, d, y), out); err != nil {
		t.Fatal(err)
	}
	got := download[uint32](t, d, out, len(want))
	for i, v := range got {
		got[i] = uint32(bits32(math.Float32frombits(v))) // any NaN is as good as another
	}
	equalBits(t, "floats", results, got, want)
}

// toRange converts as a card does: clamped, NaN is 0.
func toRange(x, low, high float64) float64 {
	if x != x {
		return 0
	}
	return math.Trunc(min(max(x, low), high))
}

// roundedOnce returns x*y + z as a float32.
func roundedOnce(x, y, z float64) float32 {
	if inexact := math.FMA(x, y, z); inexact == 0 || inexact != inexact || math.IsInf(inexact, 0) {
		return float32(inexact)
	}
	exact := new(big.Float).SetPrec(1000)
	exact.Mul(big.NewFloat(x), big.NewFloat(y)).Add(exact, big.NewFloat(z))
	rounded, _ := exact.Float32()
	return rounded
}

func floatsInGo(a, b float32) []float32 {
	wide, wideB := float64(a), float64(b)
	o := make([]float32, 16)
	o[0] = a + b
	o[1] = float32(a*b) - a
	o[2] = roundedOnce(wide, wideB, -wide)
	o[3] = a / b
	o[4] = float32(math.Sqrt(math.Abs(wide))) + float32(math.Copysign(wideB, wide))
	o[5], o[6] = b, b
	if !(a != a) {
		o[5], o[6] = a, a
		if b == b {
			o[5], o[6] = min(a, b), max(a, b)
		}
	}
	o[7] = float32(math.RoundToEven(wide)) - float32(math.Trunc(wideB))
	o[8] = float32(math.Floor(wide)) + float32(math.Ceil(wideB))
	o[9] = float32(int32(toRange(wide, math.MinInt32, math.MaxInt32))) + float32(uint32(toRange(wideB, 0, math.MaxUint32)))
	o[10] = float32(float64(wide*wideB) + 1/wideB)
	switch {
	case a != a:
		o[11] = 1
	case math.IsInf(wideB, 0):
		o[11] = 2
	case !math.IsInf(float64(a*b), 0) && a*b == a*b:
		o[11] = 3
	default:
		o[11] = 4
	}
	signed, unsigned := int64(math.MaxInt64), uint64(math.MaxUint64)
	if v := toRange(wide, math.MinInt64, math.MaxInt64); v < 1<<63 {
		signed = int64(v)
	}
	if v := toRange(math.Abs(wideB), 0, math.MaxUint64); v < 1<<64 {
		unsigned = uint64(v)
	}
	o[12] = float32(signed) + float32(unsigned)
	if a <= b || !(a >= b) {
		o[13] = -a
	} else {
		o[13] = 1 / b
	}
	saturated := float32(0)
	if a == a {
		saturated = min(max(a, 0), 1)
	}
	o[14] = saturated + float32(math.RoundToEven(float64(b*4)))
	o[15] = float32(math.Sqrt(math.Abs(wideB))) + float32(int32(toRange(math.RoundToEven(wide), math.MinInt32, math.MaxInt32)))
	return o
}

func TestWarpsAsGo(t *testing.T) {
	t.Parallel()
	const blocks, results = 5, 16
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]int32, 64*blocks)
	for i := range x {
		x[i] = int32(r.Uint32()) >> r.IntN(30)
	}
	d := New(Seed(1))
	out, sum, wide, small := cleared(t, d, 4*results*len(x)), cleared(t, d, 8), cleared(t, d, 8), cleared(t, d, len(x))
	if err := d.Launch(load(t, d, readPTX(t, "warps"), "warps"), blocks, 64, upload(t, d, x), out, sum, wide, small); err != nil {
		t.Fatal(err)
	}
	var total, mixed uint32
	var totalWide uint64
	want := make([]uint32, results*len(x))
	for i, a := range x {
		total += uint32(a & 15)
		mixed ^= uint32(a)
		totalWide += uint64(uint32(a))
		warpInGo(want[results*i:], x[i&^31:i&^31+32], x[i&^63:i&^63+64], i&31, i&63)
	}
	equalBits(t, "warps", results, download[uint32](t, d, out, len(want)), want)
	if got := download[uint32](t, d, sum, 2); got[0] != total || got[1] != mixed {
		t.Errorf("sums %d, want %d and %d", got, total, mixed)
	}
	if got := download[uint64](t, d, wide, 1); got[0] != totalWide {
		t.Errorf("sum of 64 bits %d, want %d", got[0], totalWide)
	}
	for i, b := range download[uint8](t, d, small, len(x)) {
		if b != uint8(x[i]+1) {
			t.Fatalf("byte %d: %d, want %d", i, b, uint8(x[i]+1))
		}
	}
}

// warpInGo computes what the kernel warps does for a lane of a warp and a thread of a block.
func warpInGo(o []uint32, warp, block []int32, lane, thread int) {
	at := func(i int) uint32 { return uint32(warp[i&31]) }
	own := at(lane)
	within := func(i int, inside bool) uint32 {
		if inside {
			return at(i)
		}
		return own
	}
	o[0] = at(lane ^ 5)
	o[1] = within(lane+3, lane+3 < 32)
	o[2] = within(lane-7, lane >= 7)
	o[3] = at(lane*3 + 1)
	o[4] = at(lane^2) + within(lane+2, lane%16+2 < 16) + at(lane&^3+3)
	o[6] = 2
	largest, sum, union := warp[0], int32(0), uint32(0)
	for l, a := range warp {
		o[5] |= uint32(a) & 1 << l
		if a == 3 {
			o[6] |= 1
		}
		if a >= 1<<30 {
			o[6] &^= 2
		}
		if l < 16 {
			o[7] |= uint32(a) >> 1 & 1 << l
		}
		if uint32(a)&3 == own&3 {
			o[8] |= 1 << l
		}
		largest, sum, union = max(largest, a), sum+a, union|uint32(a)
	}
	if lane >= 16 {
		o[7] = at(lane ^ 1)
	}
	o[9] = uint32(sum) ^ uint32(largest) ^ union
	o[10] = at(lane ^ 1)
	o[11] = uint32(block[63-thread]) + 1
	for _, a := range block {
		o[12] += uint32(a) & 7
		o[13] = max(o[13], uint32(a)&255)
	}
	o[14] = uint32(uint8(block[thread^33]))
	o[15] = math.MaxUint32
}

func TestVectorsAsGo(t *testing.T) {
	t.Parallel()
	const n = 200
	x, narrow, wide := make([]float32, 4*n), make([]uint8, 2*n), make([]uint64, n)
	r := rand.New(rand.NewPCG(9, 10))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for i := range narrow {
		narrow[i] = uint8(r.Uint32())
	}
	for i := range wide {
		wide[i] = math.Float64bits(r.NormFloat64())
	}
	d := New(Seed(1))
	out, pair, half := cleared(t, d, 16*n), cleared(t, d, 8*n), cleared(t, d, 2*n)
	if err := d.Launch(load(t, d, readPTX(t, "vectors"), "vectors"), 2, 128, int32(n), upload(t, d, x), upload(t, d, narrow), upload(t, d, wide), out, pair, half); err != nil {
		t.Fatal(err)
	}
	gotOut, gotPair, gotHalf := download[float32](t, d, out, 4*n), download[uint32](t, d, pair, 2*n), download[uint8](t, d, half, 2*n)
	for i := range n {
		var v [4]float32
		if from := i&^127 + 127 - i&127; from < n {
			copy(v[:], x[4*from:])
		}
		short := int16(uint16(narrow[2*i]) | uint16(narrow[2*i+1])<<8)
		want := [4]float32{v[3], v[0] * 2, v[2] + float32(short), float32(math.Float64frombits(wide[i]))}
		if got := [4]float32(gotOut[4*i:]); got != want {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
		if gotPair[2*i] != uint32(wide[i]) || gotPair[2*i+1] != math.Float32bits(v[1]) {
			t.Errorf("pair %d: %x", i, gotPair[2*i:2*i+2])
		}
		if h := uint16(gotHalf[2*i]) | uint16(gotHalf[2*i+1])<<8; h != uint16(short>>1) {
			t.Errorf("half %d: %x, want %x", i, h, uint16(short>>1))
		}
	}
}
