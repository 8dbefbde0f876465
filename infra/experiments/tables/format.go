package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/internal/engine"
)

// formats are the functions of the templates: the ways of writing numbers, and the datasets.
var formats = template.FuncMap{
	"three": three, "signed": signed, "plus": plus, "compared": compared, "percent": percent, "duration": duration, "grouped": grouped, "interval": interval,
	"each": each, "ratio": ratio, "join": strings.Join,
	"minus":    func(a, b int) int { return a - b },
	"plusTwo":  func(n int) int { return n + 2 },
	"quotient": func(a, b float64) float64 { return a / b },
	"whole":    func(a, b int64) int64 { return a / b },
	"trimmed":  trimmed,
	"about": func(protocol string) string {
		return strings.ReplaceAll(metrics.Protocol(protocol).About(), "*", "\\*")
	},
	"seconds": func(s float64) string { return fmt.Sprintf("%.1f", s) },
	"saved":   func(sent float64) float64 { return 1 - sent },
	"over":    func(a, b int64) float64 { return float64(a) / float64(b) },
	"div":     func(a float64, n int) float64 { return a / float64(n) },

	"transductive": list(transductive...), "inductive": list(inductive...), "everywhere": list(everywhere...), "counted": list(counted...),
	"deltas":  list("fb237_v1", "WN18RR_v1"),
	"metrics": list("MRR", "Hits@10"), "protocols": list(metrics.Protocols[1:]...),
}

// list returns a function of templates that returns texts.
func list(texts ...string) func() []string { return func() []string { return texts } }

// trimmed writes the share of a distance of at least 1 that the paper has, with its digits.
func trimmed(shares []float64, distance int) string {
	text := strings.TrimRight(strings.TrimSuffix(percent(shares[distance-1], "%.3f"), "%"), "0")
	return strings.TrimSuffix(text, ".") + "%"
}

// three writes a metric with three digits and without the zero before the point, as papers do.
func three(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', 3, 64), "0.", ".", 1)
}

func signed(v float64) string {
	if text := three(math.Abs(v)); v > -0.0005 {
		return "+" + text
	} else {
		return "−" + text
	}
}

// plus writes mean and deviation.
func plus(s spread) string {
	if s.N < 2 {
		return three(s.Mean)
	}
	return three(s.Mean) + " ± " + three(s.Deviation)
}

// compared writes the difference of two means with its standard error over seeds.
func compared(a, b spread) string {
	switch text := signed(a.Mean - b.Mean); {
	case a.N == 0 || b.N == 0:
		return "–"
	case math.IsNaN(a.Error() + b.Error()):
		return text
	default:
		return text + " ± " + three(math.Hypot(a.Error(), b.Error()))
	}
}

// percent writes a share with a decimal, or with another format of its hundredfold.
func percent(share float64, format ...string) string {
	if math.IsNaN(share) {
		return "–"
	}
	if len(format) > 0 {
		return fmt.Sprintf(format[0]+"%%", 100*share)
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

// duration writes seconds: 71 s, 16 min, 3.2 h.
func duration(s spread) string {
	switch v := s.Mean; {
	case s.N == 0:
		return "–"
	case v < 120:
		return fmt.Sprintf("%.0f s", v)
	case v < 7200:
		return fmt.Sprintf("%.0f min", v/60)
	default:
		return fmt.Sprintf("%.1f h", v/3600)
	}
}

// each writes the time of one of n units.
func each(s float64, n int64) string {
	s /= float64(n)
	if s < 1e-3 {
		return fmt.Sprintf("%.1f µs", s*1e6)
	}
	return fmt.Sprintf("%.1f ms", s*1e3)
}

// ratio writes a share of a sum that may be 0 or unknown.
func ratio(a, b float64) string {
	if !(b > 0) || math.IsNaN(a) {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// grouped writes a number with commas.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// count is how many results a text describes.
type count struct {
	Text string
	N    int
}

// by counts results by what describes them, sorted by it.
func by(results []*engine.Result, what func(*engine.Result) string) (counted []count) {
	found := map[string]int{}
	for _, r := range results {
		found[what(r)]++
	}
	for _, text := range slices.Sorted(maps.Keys(found)) {
		counted = append(counted, count{text, found[text]})
	}
	return counted
}

// processor describes the processor and the program of a result, machine the machine and the kernels.
func processor(r *engine.Result) string {
	return r.Machine.Processor + ", commit " + cmp.Or(r.Commit, "unknown") + map[bool]string{true: " with changes"}[r.Modified]
}

func machine(r *engine.Result) string {
	m := r.Machine
	text := fmt.Sprintf("%s, %d cores, %s/%s, kernels %s", m.Processor, m.Cores, m.OS, m.Arch, strings.Join(r.Kernels, " and "))
	if m.Device != "" {
		text = m.Device + " with " + text
	}
	return text
}
