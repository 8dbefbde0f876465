package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachWidth runs a test for every variant and every width of its rows.
func eachWidth(t *testing.T, test func(t *testing.T, k Kernel, words int)) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		for _, words := range k.RowWidths() {
			t.Run(fmt.Sprint(64*words, " sources"), func(t *testing.T) { test(t, k, words) })
		}
	})
}

// newHop draws a graph with so many edges for each entity, loops and parallel edges among them, and the
// bits of a step, in which all of the frontier is reached.
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
	h.Distances = make([]uint64, 4*entities*words)
	for i := range h.Distances {
		h.Distances[i] = rng.Uint64() & rng.Uint64()
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

// copy returns h with copies of its tables.
func (h *Hop) copy() *Hop {
	c := *h
	c.Frontier, c.Reached, c.Next, c.Distances = slices.Clone(h.Frontier), slices.Clone(h.Reached), slices.Clone(h.Next), slices.Clone(h.Distances)
	return &c
}

// active returns the entities in the frontier.
func (h *Hop) active() (list []int32) {
	for o := range int32(len(h.Offsets) - 1) {
		if slices.ContainsFunc(h.Frontier[int(o)*h.Words:(int(o)+1)*h.Words], func(x uint64) bool { return x != 0 }) {
			list = append(list, o)
		}
	}
	return list
}

func bit(rows []uint64, words, row, c int) bool { return rows[row*words+c/64]>>(c%64)&1 == 1 }

// step computes the step edge by edge and bit by bit.
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

func takeAll(c *Counters) []uint64 {
	rows := make([]uint64, 64*c.words)
	c.Take(rows)
	numbers := make([]uint64, len(rows))
	for i := range numbers {
		numbers[i] = rows[i%64*c.words+i/64]
	}
	return numbers
}

// TestHop compares pull and push, with and without counting, with every single bit, for degrees from 0 to
// more than the capacity of the counters' pending rows.
func TestHop(t *testing.T) {
	t.Parallel()
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
					for _, enter := range []Record{RecordAll, RecordReached, RecordNothing} {
						h := h.copy()
						h.Counters, h.Distance, h.Record = counts, trial%15, enter
						before := h.copy()
						got := append(make([]int32, 0, len(h.Offsets)+1), 0) // the list is not empty
						if push {
							got = k.Push(h, h.active(), got)
							slices.Sort(got[1:])
						} else {
							copy(h.Next, h.Frontier) // old contents must not matter
							got = k.Pull(h, got)
						}
						name := fmt.Sprintf("trial %d, push %v, counted %v, enter %v", trial, push, counts != nil, enter)
						if !slices.Equal(h.Next, next) || !slices.Equal(got[1:], found) {
							t.Fatalf("%s: found %v, want %v, or other bits", name, got[1:], found)
						}
						if counts != nil && !slices.Equal(takeAll(counts), sums) {
							t.Fatalf("%s: other counts", name)
						}
						h.checkRecorded(t, name, before)
					}
				}
			}
		}
	})
}

// checkRecorded compares what a step recorded with the bits it found.
func (h *Hop) checkRecorded(t *testing.T, name string, before *Hop) {
	t.Helper()
	for o := range len(h.Offsets) - 1 {
		for w := range h.Words {
			fresh := h.Next[o*h.Words+w]
			if h.Record == RecordNothing {
				fresh = 0
			}
			at := o*h.Words + w
			if h.Reached[at] != before.Reached[at]|fresh {
				t.Fatalf("%s: reached %x of entity %d, before %x, found %x", name, h.Reached[at], o, before.Reached[at], fresh)
			}
			for plane := range 4 {
				at, want := plane*len(h.Reached)+o*h.Words+w, fresh
				if h.Record != RecordAll || h.Distance>>plane&1 == 0 {
					want = 0
				}
				if h.Distances[at] != before.Distances[at]|want {
					t.Fatalf("%s: plane %d of entity %d is %x, before %x, found %x", name, plane, o, h.Distances[at], before.Distances[at], fresh)
				}
			}
		}
	}
}

// TestHopWithoutCapacity checks that assembly panics and writes nothing where the list has no capacity
// for all entities and one more.
func TestHopWithoutCapacity(t *testing.T) {
	t.Parallel()
	eachWidth(t, func(t *testing.T, k Kernel, words int) {
		if words == 1 {
			t.Skip("portable lists grow")
		}
		h := newHop(rand.New(rand.NewPCG(57, 58)), 40, words, func(int) int { return 6 })
		for name, step := range map[string]func(found []int32){
			"pull": func(found []int32) { k.Pull(h, found) },
			"push": func(found []int32) { k.Push(h, h.active(), found) },
		} {
			clear(h.Next)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				step(make([]int32, 1, 41))
			}()
		}
	})
}

// TestCountersScale checks that counts accumulate over calls, each with its weight, beyond 32 bits.
func TestCountersScale(t *testing.T) {
	t.Parallel()
	eachWidth(t, func(t *testing.T, k Kernel, words int) {
		rng := rand.New(rand.NewPCG(53, 54))
		h := newHop(rng, 40, words, func(int) int { return 6 })
		_, _, sums := h.step()
		h.Counters, h.Record = NewCounters(words), RecordNothing
		want := make([]uint64, len(sums))
		for _, shift := range []int{0, 3, 0, 31, 31, 5, 31, 31} {
			h.Counters.Scale(shift)
			k.Pull(h, make([]int32, 0, 41))
			for c := range want {
				want[c] += sums[c] << shift
			}
		}
		if got := takeAll(h.Counters); !slices.Equal(got, want) {
			t.Errorf("counted %v, want %v", got, want)
		}
		k.Pull(h, make([]int32, 0, 41))
		if got := takeAll(h.Counters); !slices.Equal(got, sums) {
			t.Errorf("after taking counted %v, want %v", got, sums)
		}
	})
}

// TestHopWithoutDistances checks that without distances only Reached is recorded.
func TestHopWithoutDistances(t *testing.T) {
	t.Parallel()
	eachWidth(t, func(t *testing.T, k Kernel, words int) {
		h := newHop(rand.New(rand.NewPCG(55, 56)), 40, words, func(int) int { return 6 })
		next, _, _ := h.step()
		for _, push := range []bool{false, true} {
			h := h.copy()
			h.Distances = nil
			if push {
				k.Push(h, h.active(), make([]int32, 0, 41))
			} else {
				k.Pull(h, make([]int32, 0, 41))
			}
			for at := range next {
				if next[at]&^h.Reached[at] != 0 {
					t.Fatalf("push %v: word %d is %x, found %x", push, at, h.Reached[at], next[at])
				}
			}
		}
	})
}

func TestTransposeBits(t *testing.T) {
	t.Parallel()
	for _, words := range []int{1, 4, 8} {
		rng := rand.New(rand.NewPCG(57, 58))
		rows := make([]uint64, 64*words)
		for i := range rows {
			rows[i] = rng.Uint64() & rng.Uint64()
		}
		turned := slices.Clone(rows)
		transposeBits(turned, words)
		for r := range 64 {
			for c := range 64 * words {
				if bit(rows, words, r, c) != (turned[c%64*words+c/64]>>r&1 == 1) {
					t.Fatalf("bit %d of row %d", c, r)
				}
			}
		}
	}
}

// TestPackBits checks that the distances of 128 entities among others are packed and only their bits are
// cleared, that unused planes are not read, and that entities in Next are at the last distance.
func TestPackBits(t *testing.T) {
	t.Parallel()
	const first, entities = 128, 3 * 128
	for _, words := range []int{1, 4, 8} {
		for planes := range 5 {
			rng := rand.New(rand.NewPCG(59, uint64(planes)))
			h := &Hop{Words: words, Planes: planes, Distance: rng.IntN(1 << planes)}
			for range entities * words {
				h.Reached = append(h.Reached, rng.Uint64()|rng.Uint64())
				reached := h.Reached[len(h.Reached)-1]
				h.Frontier = append(h.Frontier, rng.Uint64()&rng.Uint64()&reached)
				h.Next = append(h.Next, rng.Uint64()&^reached)
			}
			for i := range 4 * entities * words {
				at := i % len(h.Reached)
				h.Distances = append(h.Distances, rng.Uint64()&h.Reached[at]&^h.Frontier[at])
			}
			for _, stride := range []int{91, 128} {
				checkPacked(t, h.copy(), first, stride)
			}
		}
	}
}

// checkPacked packs the distances of 128 entities and checks everything that should have changed.
func checkPacked(t *testing.T, h *Hop, first, stride int) {
	t.Helper()
	before, out := h.copy(), make([]byte, 64*h.Words*stride)
	h.PackBits(first, out, stride)
	within := func(i int) bool { return i/h.Words >= first && i/h.Words < first+128 }
	for i, x := range h.Next {
		next, frontier := before.Next[i], before.Frontier[i]
		if within(i) {
			next, frontier = 0, 0
		}
		if x != next || h.Frontier[i] != frontier {
			t.Fatalf("%d planes: of entity %d next is %x, want %x, frontier %x, want %x", h.Planes, i/h.Words, x, next, h.Frontier[i], frontier)
		}
	}
	for i, x := range h.Distances {
		plane, want := i/len(h.Reached), before.Distances[i]
		if plane < h.Planes && within(i%len(h.Reached)) {
			want = 0
		}
		if x != want {
			t.Fatalf("%d planes: plane %d of entity %d is %x, want %x", h.Planes, plane, i%len(h.Reached)/h.Words, x, want)
		}
	}
	for source := range 64 * h.Words {
		checkLine(t, before, first, source, out[source*stride:(source+1)*stride])
	}
}

// checkLine compares what PackBits wrote for one source.
func checkLine(t *testing.T, h *Hop, first, source int, out []byte) {
	t.Helper()
	for o := range 128 {
		want := byte(0)
		for plane := range h.Planes {
			if bit(h.Distances[plane*len(h.Reached):], h.Words, first+o, source) {
				want |= 1 << plane
			}
		}
		if bit(h.Next, h.Words, first+o, source) {
			want = byte(h.Distance)
		} else if bit(h.Frontier, h.Words, first+o, source) {
			want = byte(max(0, h.Distance-1))
		} else if !bit(h.Reached, h.Words, first+o, source) {
			want = 15
		}
		if got := out[o/2] >> (4 * (o % 2)) & 15; got != want {
			t.Fatalf("%d planes, source %d, entity %d: %d, want %d", h.Planes, source, o, got, want)
		}
	}
	if rest := out[64:]; slices.ContainsFunc(rest, func(b byte) bool { return b != 0 }) {
		t.Fatalf("source %d: wrote beyond its line: %v", source, rest)
	}
}
