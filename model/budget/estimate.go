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

// reserved is what Beam's local runner has under way: elements, each built, encoded and decoded.
const reserved = 24 * MiB

// mostBuffers bounds what all threads sort in together: more makes fewer spill files, but nothing faster.
const mostBuffers = 1536 * MiB

// Row is a part of an estimate.
type Row struct {
	Name  string
	Bytes int64
}

// Estimate bounds the memory of a worker process:
//
//	Base + 9/8 (sum of Rows + threads x Thread + elements)
//
// bytes, where an eighth is what the garbage collector has not collected yet.
type Estimate struct {
	// Task completes "--memory is too small: ... takes at least".
	Task   string
	Rows   []Row
	Thread int64
}

// Plan is how a worker uses its budget.
type Plan struct {
	// Threads is the number of threads. MaxThreads is how many fit, for a worker with more cores than the machine that
	// plans.
	Threads, MaxThreads int
	// Free is the bytes that neither rows nor threads take; Beam's elements and buffers share them.
	Free int64
}

// TooSmall is the error of a budget that is less than an estimate.
type TooSmall struct {
	Task    string
	Threads int
	// Budget and Least are bytes: what was given, and the least that is enough.
	Budget, Least int64
	// Rows are all that is counted, garbage and base included.
	Rows []Row
}

// Error names the least budget in MiB and its rows. They are rounded so that they add up to it: each
// is the difference of two rounded sums, and the last is the rest.
func (e *TooSmall) Error() string {
	rows := make([]string, len(e.Rows))
	sum, shown := int64(0), int64(0)
	for i, r := range e.Rows {
		sum += r.Bytes
		to := (sum + MiB/2) / MiB
		if i == len(e.Rows)-1 {
			to = e.Least / MiB
		}
		rows[i] = fmt.Sprintf("%s %d", r.Name, to-shown)
		shown = to
	}
	return fmt.Sprintf("%s with %s takes at least %d MiB (%s)", e.Task, count(e.Threads), e.Least/MiB, strings.Join(rows, ", "))
}

func count(threads int) string {
	if threads == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", threads)
}

// Plan divides a budget in bytes. Where threads is 0 it takes as many as fit, at most cores. The
// error is a *TooSmall.
func (e Estimate) Plan(budget int64, threads, cores int) (Plan, error) {
	rest := (budget - Base) / 9 * 8
	for _, r := range e.Rows {
		rest -= r.Bytes
	}
	thread := max(1, e.Thread)
	if threads <= 0 {
		threads = int(max(1, min(int64(max(1, cores)), (rest-reserved)/thread)))
	}
	free := rest - int64(threads)*thread
	if free < reserved {
		return Plan{}, e.tooSmall(budget, threads)
	}
	return Plan{Threads: threads, MaxThreads: threads + int((free-reserved)/thread), Free: free}, nil
}

// Least returns the least budget in bytes for so many threads, a multiple of MiB.
func (e Estimate) Least(threads int) int64 { return e.tooSmall(0, threads).Least }

func (e Estimate) tooSmall(budget int64, threads int) *TooSmall {
	rows := append([]Row{{"Go and Beam", Base}}, e.Rows...)
	rows = append(rows, Row{count(threads), int64(threads) * max(1, e.Thread)}, Row{"elements", reserved})
	live := int64(0)
	for _, r := range rows[1:] {
		live += r.Bytes
	}
	rows = append(rows, Row{"garbage", (live + 7) / 8})
	least := (Base + live + (live+7)/8 + MiB) / MiB * MiB
	return &TooSmall{Task: e.Task, Threads: threads, Budget: budget, Least: least, Rows: rows}
}

// BufferBytes returns how many bytes each thread may take to sort in: an equal part of what is
// free, up to mostBuffers.
func (p Plan) BufferBytes() int64 {
	return min(p.Free, mostBuffers) / int64(p.Threads)
}

// Spare returns the bytes that are free beside Beam's elements.
func (p Plan) Spare() int64 { return p.Free - reserved }
