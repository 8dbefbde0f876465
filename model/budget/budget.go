package budget

import (
	"fmt"
	"strings"
)

// MiB is the unit in which a budget is given.
const MiB int64 = 1 << 20

// Base is what a process takes before there is a graph: the part of its program that is in use,
// Go's runtime, and Beam with its local runner.
const Base = 160 * MiB

// Default is the budget of a worker process where none is given, in MiB.
const Default = 1024

// Bounds of a bundle in bytes: one much smaller costs more to hand on than to ask, one larger
// keeps others waiting for it.
const (
	LeastBundle = MiB
	MostBundle  = 64 * MiB
)

// BundlesHeld is how often a bundle's bytes may be in memory at a time: Beam's local runner
// has up to 8 under way, each built, encoded and decoded.
const BundlesHeld = 24

// Part is something that takes memory.
type Part struct {
	Name  string
	Bytes int64
}

// Need is what a process needs:
//
//	Base + 9/8 (sum of Fixed + threads x Thread + BundlesHeld x bundle)
//
// bytes, where an eighth is what the garbage collector has not collected yet.
type Need struct {
	Fixed  []Part
	Thread int64
}

// Share is what a budget allows.
type Share struct {
	Threads int
	// Most is how many threads there could be with bundles of that size: where a worker has
	// more cores than the machine that divides.
	Most int
	// Bundle is the most bytes of a bundle, a power of two: what was bundled serves other
	// budgets of about that size too.
	Bundle int64
}

// TooSmall says that a budget does not hold what is needed.
type TooSmall struct {
	// Budget and Least are bytes: what was given, and the least that would do.
	Budget, Least int64
	// Parts are what takes it, garbage and base included.
	Parts []Part
}

// Error names the least budget in MiB and what takes it.
func (e *TooSmall) Error() string {
	var parts []string
	for _, p := range e.Parts {
		parts = append(parts, fmt.Sprintf("%s %d", p.Name, up(p.Bytes)))
	}
	return fmt.Sprintf("%d MiB or more: %s", up(e.Least), strings.Join(parts, ", "))
}

// Divide divides a budget of bytes among that many threads, or, where threads is 0, as many as
// it holds, cores at most. What is left goes to bundles. The error is a TooSmall.
func (n Need) Divide(budget int64, threads, cores int) (Share, error) {
	fixed := int64(0)
	for _, p := range n.Fixed {
		fixed += p.Bytes
	}
	live := (budget - Base) / 9 * 8 // what may be in use
	least := BundlesHeld * LeastBundle
	if threads <= 0 {
		threads = max(1, cores)
		if n.Thread > 0 {
			threads = int(max(1, min(int64(threads), (live-fixed-least)/n.Thread)))
		}
	}
	left := live - fixed - int64(threads)*n.Thread
	if left < least {
		return Share{}, n.tooSmall(budget, threads)
	}
	share := Share{Threads: threads, Most: threads, Bundle: LeastBundle}
	for share.Bundle < MostBundle && 2*share.Bundle*BundlesHeld <= left {
		share.Bundle *= 2
	}
	if n.Thread > 0 {
		share.Most += int((left - share.Bundle*BundlesHeld) / n.Thread)
	}
	return share, nil
}

func (n Need) tooSmall(budget int64, threads int) *TooSmall {
	e := &TooSmall{Budget: budget, Parts: []Part{{"Go and Beam", Base}}}
	e.Parts = append(e.Parts, n.Fixed...)
	e.Parts = append(e.Parts,
		Part{fmt.Sprintf("%d threads", threads), int64(threads) * n.Thread},
		Part{"bundles", BundlesHeld * LeastBundle})
	in := int64(0)
	for _, p := range e.Parts[1:] {
		in += p.Bytes
	}
	// Rounded up to whole MiB, so that what the error names does.
	e.Parts = append(e.Parts, Part{"garbage", (in + 7) / 8})
	e.Least = (Base + in + (in+7)/8 + MiB) / MiB * MiB
	return e
}

func up(bytes int64) int64 { return (bytes + MiB - 1) / MiB }
