package main

import (
	"bytes"
	"fmt"
	"math"
)

// table returns the Markdown of results.
func table(results []result) []byte {
	var t bytes.Buffer
	t.WriteString(`| graph | removed | split | P@50 | P@100 | P@500 | P@all | p, true share of bins of 100 facts and more | p off from .1 on | misses |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	missed := 0
	for _, r := range results {
		graph, removed, split := r.Graph, fmt.Sprintf("%d%%: %d", r.Percent, r.Removed), ""
		if r.Own {
			removed = fmt.Sprintf("its own: %d", r.Removed)
		}
		if r.Keep != "" {
			graph += ", no " + r.Keep + " removed"
		}
		if r.Relations > 0 {
			graph += fmt.Sprintf(", %d relations", r.Relations)
		}
		if r.Split {
			split = "yes"
		}
		fmt.Fprintf(&t, "| %s | %s | %s |", graph, removed, split)
		for _, p := range r.Precisions {
			fmt.Fprintf(&t, " %s (%s) |", short(p.List), short(p.Lower))
		}
		t.WriteString(" ")
		for i, b := range r.Bins {
			if b.Facts >= 100 && i > 0 {
				fmt.Fprintf(&t, "%s→%s ", short(b.Mean), short(b.True))
			}
		}
		_, likely := r.off()
		misses := r.misses()
		if len(misses) > 0 {
			missed++
		}
		fmt.Fprintf(&t, "| %s | ", short(likely))
		for i, m := range misses {
			if i > 0 {
				t.WriteString("; ")
			}
			t.WriteString(m)
		}
		t.WriteString(" |\n")
	}
	fmt.Fprintf(&t, "\n%d settings, %d of which miss a tolerance.", len(results), missed)
	for i, at := range []int{50, 100} {
		mean, deviation := difference(results, i)
		fmt.Fprintf(&t, " P@%d is higher than that of the lower score by %.3f on the mean (standard error %.3f).", at, mean, deviation)
	}
	t.WriteString("\n")
	for _, r := range results {
		if r.Wide != nil {
			fmt.Fprintf(&t, "\n%s: P@500 is %s with `--top_k 10`, %s with 100.\n", r.name(), short(r.Precisions[2].List), short(*r.Wide))
		}
		if r.Parents != nil {
			fmt.Fprintf(&t, "\n%s: %d `is_a` have p > .5; %s of the first 200 facts are about terms whose parent the split hid, who are %s of all.\n",
				r.name(), r.Parents.Likely, short(r.Parents.First), short(r.Parents.All))
		}
	}
	return t.Bytes()
}

// short returns a share with three digits.
func short(x float64) string {
	text := fmt.Sprintf("%.3f", x)
	if text[0] == '0' {
		return text[1:]
	}
	return text
}

// difference returns the mean of what the list's precision is higher by, over settings, and its standard error.
func difference(results []result, at int) (mean, deviation float64) {
	n := float64(len(results))
	for _, r := range results {
		mean += (r.Precisions[at].List - r.Precisions[at].Lower) / n
	}
	for _, r := range results {
		d := r.Precisions[at].List - r.Precisions[at].Lower - mean
		deviation += d * d / (n - 1) / n
	}
	return mean, math.Sqrt(deviation)
}
