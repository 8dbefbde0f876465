package kernel

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachWidth runs a test once for every variant and every width of its rows.
func eachWidth(t *testing.T, test func(t *testing.T, k Kernel, words int)) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		for _, words := range k.Widths() {
			t.Run(fmt.Sprint(64*words, " sources"), func(t *testing.T) { test(t, k, words) })
		}
	})
}

// newHop draws a graph whose entities have so many edges each, loops and parallel ones among
// them, and the bits of a step: none of the frontier is not reached.
func newHop(rng *rand.Rand, entities, words int, edges func(o int) int) *Hop {
	h := &Hop{Words: words, Frontier: make([]uint64, entities*words), Reached: make([]uint64, entities*words), Next: make([]uint64, entities*words)}
	lists := make([][]int32, entities)
	for o := range lists {
		for range edges(o) {
			u := rng.Int32N(int32(entities))
			lists[o], lists[u] = append(lists[o], u), append(lists[u], int32(o))
		}
	}
	h.Offsets = []int64{0}
	for _, list := range lists {
		h.Senders = append(h.Senders, list...)
		h.Offsets = append(h.Offsets, int64(len(h.Senders)))
	}
	for i := range h.Frontier {
		h.Frontier[i] = rng.Uint64() & rng.Uint64() & rng.Uint64()
		if rng.IntN(3) == 0 {
			h.Frontier[i] = 0
		}
		h.Reached[i] = rng.Uint64() | h.Frontier[i]
		if rng.IntN(4) == 0 {
			h.Reached[i] = ^uint64(0)
		}
	}
	return h
}

// active are the entities in the frontier.
func (h *Hop) active() (list []int32) {
	for o := range int32(len(h.Offsets) - 1) {
		if slices.ContainsFunc(h.Frontier[int(o)*h.Words:(int(o)+1)*h.Words], func(x uint64) bool { return x != 0 }) {
			list = append(list, o)
		}
	}
	return list
}

func bit(rows []uint64, words, row, c int) bool { return rows[row*words+c/64]>>(c%64)&1 == 1 }

// step goes from edge to edge and from bit to bit.
func (h *Hop) step() (next []uint64, found []int32, sums []uint64) {
	next, sums = make([]uint64, len(h.Next)), make([]uint64, 64*h.Words)
	for o := range len(h.Offsets) - 1 {
		any := false
		for _, u := range h.Senders[h.Offsets[o]:h.Offsets[o+1]] {
			for c := range sums {
				if bit(h.Frontier, h.Words, int(u), c) && !bit(h.Reached, h.Words, o, c) {
					next[o*h.Words+c/64] |= 1 << (c % 64)
					sums[c]++
					any = true
				}
			}
		}
		if any {
			found = append(found, int32(o))
		}
	}
	return next, found, sums
}

func takeAll(k Kernel, c *Counters) []uint64 {
	out := make([]byte, 64*c.words*8)
	c.Take(k, out)
	numbers := make([]uint64, 64*c.words)
	for i := range numbers {
		numbers[i] = binary.LittleEndian.Uint64(out[8*i:])
	}
	return numbers
}

// Both ways of a step, with and without counting, against every single bit. Degrees from 0 to
// beyond what waits to be added at once.
func TestHop(t *testing.T) {
	eachWidth(t, func(t *testing.T, k Kernel, words int) {
		rng := rand.New(rand.NewPCG(51, 52))
		counters := NewCounters(words)
		for trial := range 30 {
			h := newHop(rng, 1+trial*2, words, func(o int) int {
				if trial == 29 && o == 3 {
					return 3000
				}
				return rng.IntN(1 + trial/2)
			})
			next, found, sums := h.step()
			for _, counts := range []*Counters{nil, counters} {
				for _, push := range []bool{false, true} {
					h.Counters = counts
					clear(h.Next)
					got := make([]int32, 1, len(h.Offsets)+1) // after what is in the list already
					if push {
						got = k.Push(h, h.active(), got)
						slices.Sort(got[1:])
					} else {
						got = k.Pull(h, got)
					}
					if !slices.Equal(h.Next, next) || !slices.Equal(got[1:], found) {
						t.Fatalf("trial %d, push %v, counted %v: found %v, want %v, or other bits", trial, push, counts != nil, got[1:], found)
					}
					if counts == nil {
						continue
					}
					if got := takeAll(k, counts); !slices.Equal(got, sums) {
						t.Fatalf("trial %d, push %v: counted %v, want %v", trial, push, got, sums)
					}
				}
			}
		}
	})
}

// Counts go on from call to call, each with the weight it is given, and beyond 32 bits.
func TestCountersScale(t *testing.T) {
	eachWidth(t, func(t *testing.T, k Kernel, words int) {
		rng := rand.New(rand.NewPCG(53, 54))
		h := newHop(rng, 40, words, func(int) int { return 6 })
		_, _, sums := h.step()
		h.Counters = NewCounters(words)
		want := make([]uint64, len(sums))
		for _, shift := range []int{0, 3, 0, 31, 31, 5, 31, 31} {
			h.Counters.Scale(shift)
			k.Pull(h, make([]int32, 0, 41))
			for c := range want {
				want[c] += sums[c] << shift
			}
		}
		if got := takeAll(k, h.Counters); !slices.Equal(got, want) {
			t.Errorf("counted %v, want %v", got, want)
		}
		k.Pull(h, make([]int32, 0, 41))
		if got := takeAll(k, h.Counters); !slices.Equal(got, sums) {
			t.Errorf("after taking counted %v, want %v", got, sums)
		}
	})
}

// Marks of several distances, read back from the transposed rows.
func TestMarkAndTransposeBits(t *testing.T) {
	eachWidth(t, func(t *testing.T, k Kernel, words int) {
		rng := rand.New(rand.NewPCG(55, 56))
		const entities = 32
		h := newHop(rng, entities, words, func(int) int { return 0 })
		clear(h.Reached)
		h.Absent = make([]uint64, 4*entities*words)
		want := make([][entities]byte, 64*words)
		for c := range want {
			for o := range want[c] {
				want[c][o] = 15
			}
		}
		for distance := range 15 {
			clear(h.Next)
			var found []int32
			for o := range int32(entities) {
				if rng.IntN(5) == 0 {
					continue
				}
				found = append(found, o)
				for w := range words {
					h.Next[int(o)*words+w] = rng.Uint64() & rng.Uint64() & rng.Uint64() &^ h.Reached[int(o)*words+w]
				}
				for c := range want {
					if bit(h.Next, words, int(o), c) {
						want[c][o] = byte(distance)
					}
				}
			}
			k.Mark(h, found, distance)
			absent := h.Absent
			h.Absent = nil
			k.Mark(h, found, 0) // nothing but what is marked already
			h.Absent = absent
		}
		const stride = 29
		out := make([]byte, 64*words*stride)
		k.TransposeBits(h.Absent[:64*words], words, out, stride, true)
		k.TransposeBits(h.Absent[64*words:], words, out[8:], stride, true)
		for c := range want {
			for o, distance := range want[c] {
				if got := out[c*stride+o/2] >> (4 * (o % 2)) & 15; got != distance {
					t.Fatalf("search %d, entity %d: %d, want %d", c, o, got, distance)
				}
				if reached := bit(h.Reached, words, o, c); reached != (distance < 15) {
					t.Fatalf("search %d, entity %d at %d: reached is %v", c, o, distance, reached)
				}
			}
			if rest := out[c*stride+16 : (c+1)*stride]; slices.ContainsFunc(rest, func(b byte) bool { return b != 0 }) {
				t.Fatalf("search %d: wrote beyond its words: %v", c, rest)
			}
		}
	})
}
