package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"tagnet/model/kernel"
)

// peaks are the limits of one core.
type peaks struct {
	operations float64 // floating-point operations per second
	// Bytes read per second, from an array that fits into the second-level cache, and from one that
	// fits into no cache.
	cache, memory float64
}

func measurePeaks(k kernel.Kernel) peaks {
	return peaks{
		operations: productRate(k),
		cache:      readRate(k, 512<<10),
		memory:     readRate(k, 256<<20),
	}
}

// productRate returns the floating-point operations per second of a matrix product whose
// matrices stay in the first-level cache, the best of several measurements: others may use
// the machine. Nothing else that the kernels do comes closer to what a core can do.
func productRate(k kernel.Multiplier) float64 {
	const n, terms, m, repeat, measurements = 48, 64, 64, 500, 20
	a, b, c := make([]float32, n*terms), make([]float32, terms*m), make([]float32, n*m)
	best := 0.0
	for range measurements {
		begin := time.Now()
		for range repeat {
			k.Multiply(c, a, b, n, terms, m, false)
		}
		best = max(best, 2*n*terms*m*repeat/time.Since(begin).Seconds())
	}
	return best
}

// readRate returns the bytes per second at which an array is read, the best of several measurements.
func readRate(k kernel.Vectors, bytes int) float64 {
	array := make([]float32, bytes/4)
	for i := range array {
		array[i] = 1 // memory that was never written is one page of zeros
	}
	repeat := max(1, 64<<20/bytes)
	best := 0.0
	for range 8 {
		begin := time.Now()
		for range repeat {
			k.Finite(array)
		}
		best = max(best, float64(bytes*repeat)/time.Since(begin).Seconds())
	}
	return best
}

// work is the least that a phase of a query has to do: operations, and bytes to and from memory.
type work struct {
	phase             string
	ms                float64
	operations, bytes float64
}

// works returns the work of a forward pass, without states that are copied from a representative. With
// dim d, a message reads a state and a relation embedding and takes 6 d operations. An update writes
// and reads 5 d features, multiplies each by d weights, and takes 10 d operations for layer norm and
// residual.
func (b *bench) works(r result) []work {
	d, messages, updates := float64(b.dim), r.Messages-r.copiedMessages, r.Updates-r.copiedUpdates
	return []work{
		{"messages", r.MessagesMS, messages * 6 * d, messages*(8*d+8) + updates*4*6*d},
		{"dense", r.DenseMS, updates * (2*5*d*d + 10*d), updates * 4 * (5*d + 5*d)},
	}
}

// compare prints how close each phase comes to the peaks.
func (b *bench) compare(r result, out io.Writer) {
	p := measurePeaks(b.kernel)
	fmt.Fprintf(out, "one core, %s: %.1f GFLOP/s; reads %.1f GB/s from the second-level cache, %.1f GB/s from memory\n\n",
		b.kernel.Name(), p.operations/1e9, p.cache/1e9, p.memory/1e9)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "phase\tms\tGFLOP/s\tof peak\tGB/s\tof cache\t")
	fmt.Fprintf(t, "search\t%.3f\t\t\t\t\t\n", r.SearchMS)
	for _, w := range b.works(r) {
		flops, bytes := w.operations/w.ms*1e3, w.bytes/w.ms*1e3
		fmt.Fprintf(t, "%s\t%.3f\t%.1f\t%.0f%%\t%.1f\t%.0f%%\t\n", w.phase, w.ms, flops/1e9, 100*flops/p.operations, bytes/1e9, 100*bytes/p.cache)
	}
	rest := "rest"
	if b.train {
		rest = "loss, backward, rest"
	}
	fmt.Fprintf(t, "%s\t%.3f\t\t\t\t\t\n", rest, r.TotalMS*float64(r.Threads)-r.SearchMS-r.MessagesMS-r.DenseMS)
	t.Flush()
	fmt.Fprintln(out)
}
